// The greedy methods of select in plain C++17, to compare the kernels with: same integers, same ties, same choices.
//
//   select_greedy DIRECTORY CAPACITY METHOD...
//
// reads the arrays that the benchmark wrote into DIRECTORY and prints a line per method: its name, the seconds of the
// algorithm alone, the objective in its units, and how many topics were chosen. Every subscriber counts once.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int64_t kFull = int64_t{1} << 32;

template <typename T>
std::vector<T> read(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::vector<T> values(static_cast<size_t>(file.tellg()) / sizeof(T));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
    return values;
}

struct Csr {
    std::vector<int64_t> offsets;
    std::vector<int32_t> values;
};

struct Instance {
    Csr by_topic, by_subscriber;
    std::vector<int64_t> events, costs, thresholds;
    int64_t capacity;

    Instance(const std::string& directory, int64_t capacity)
        : by_topic{read<int64_t>(directory + "/topic_offsets"), read<int32_t>(directory + "/topic_values")},
          by_subscriber{read<int64_t>(directory + "/subscriber_offsets"),
                        read<int32_t>(directory + "/subscriber_values")},
          events(read<int64_t>(directory + "/events")),
          costs(read<int64_t>(directory + "/costs")),
          thresholds(read<int64_t>(directory + "/thresholds")),
          capacity(capacity) {}

    int32_t num_topics() const { return static_cast<int32_t>(events.size()); }
};

// What is left up to satisfaction, and by how much one event lowers it, in units of 2^-32 subscribers.
struct Subscriber {
    int64_t room, slope;
};

// Adds up the seconds of what it runs.
class Stopwatch {
  public:
    template <typename Work>
    auto time(Work work) {
        const auto begin = std::chrono::steady_clock::now();
        auto answer = work();
        seconds_ += std::chrono::steady_clock::now() - begin;
        return answer;
    }

    double seconds() const { return seconds_.count(); }

  private:
    std::chrono::duration<double> seconds_{0};
};

struct Choice {
    std::vector<int32_t> order;
    std::vector<int64_t> spent, gained;  // so far, after each choice

    int64_t objective() const { return gained.empty() ? 0 : gained.back(); }
    int64_t cost() const { return spent.empty() ? 0 : spent.back(); }

    void add(int32_t topic, int64_t cost, int64_t gain) {
        const int64_t cost_so_far = this->cost() + cost, gain_so_far = objective() + gain;
        order.push_back(topic);
        spent.push_back(cost_so_far);
        gained.push_back(gain_so_far);
    }
};

struct Entry {
    int64_t key;
    int32_t topic;

    bool before(const Entry& other) const { return key > other.key || (key == other.key && topic < other.topic); }
};

// A binary heap whose top can be replaced.
class Heap {
  public:
    explicit Heap(std::vector<Entry> entries) : entries_(std::move(entries)) {
        for (size_t place = entries_.size() / 2; place-- > 0;) sift_down(place);
    }

    bool empty() const { return entries_.empty(); }
    const Entry& top() const { return entries_.front(); }

    void replace_top(int64_t key) {
        entries_.front().key = key;
        sift_down(0);
    }

    void pop() {
        entries_.front() = entries_.back();
        entries_.pop_back();
        if (!entries_.empty()) sift_down(0);
    }

  private:
    void sift_down(size_t place) {
        const Entry entry = entries_[place];
        const size_t size = entries_.size();
        for (size_t child = 2 * place + 1; child < size; child = 2 * place + 1) {
            if (child + 1 < size && entries_[child + 1].before(entries_[child])) ++child;
            if (!entries_[child].before(entry)) break;
            entries_[place] = entries_[child];
            place = child;
        }
        entries_[place] = entry;
    }

    std::vector<Entry> entries_;
};

// A binary heap that knows where its topics are, so that the key of any of them can be raised.
class PlacedHeap {
  public:
    PlacedHeap(std::vector<Entry> entries, size_t num_topics) : entries_(std::move(entries)), places_(num_topics, -1) {
        for (size_t place = entries_.size(); place-- > 0;) {
            put(place, entries_[place]);
            sift_down(place);
        }
    }

    bool empty() const { return entries_.empty(); }
    const Entry& top() const { return entries_.front(); }
    bool contains(int32_t topic) const { return places_[topic] >= 0; }

    void replace_top(int64_t key) {
        entries_.front().key = key;
        sift_down(0);
    }

    void pop() {
        places_[entries_.front().topic] = -1;
        const Entry last = entries_.back();
        entries_.pop_back();
        if (entries_.empty()) return;
        put(0, last);
        sift_down(0);
    }

    void raise(int32_t topic, int64_t key) {
        const Entry entry{key, topic};
        size_t place = places_[topic];
        while (place > 0 && entry.before(entries_[(place - 1) / 2])) {
            put(place, entries_[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        put(place, entry);
    }

  private:
    void put(size_t place, const Entry& entry) {
        entries_[place] = entry;
        places_[entry.topic] = static_cast<int32_t>(place);
    }

    void sift_down(size_t place) {
        const Entry entry = entries_[place];
        const size_t size = entries_.size();
        for (size_t child = 2 * place + 1; child < size; child = 2 * place + 1) {
            if (child + 1 < size && entries_[child + 1].before(entries_[child])) ++child;
            if (!entries_[child].before(entry)) break;
            put(place, entries_[child]);
            place = child;
        }
        put(place, entry);
    }

    std::vector<Entry> entries_;
    std::vector<int32_t> places_;
};

// A value itself, or the bits of value / cost: for numbers that are not negative they are ordered like the floats.
int64_t key_of(int64_t value, int64_t cost, bool by_ratio) {
    if (!by_ratio) return value;
    if (cost == 0) return std::numeric_limits<int64_t>::max();
    const double ratio = static_cast<double>(value) / static_cast<double>(cost);
    int64_t bits;
    std::memcpy(&bits, &ratio, sizeof bits);
    return bits;
}

std::vector<Subscriber> start(const Instance& instance) {
    std::vector<Subscriber> subscribers;
    subscribers.reserve(instance.thresholds.size());
    for (const int64_t threshold : instance.thresholds) {
        const Subscriber wanting{kFull, threshold > 0 ? (kFull + threshold - 1) / threshold : 0};
        subscribers.push_back(threshold > 0 ? wanting : Subscriber{0, 0});
    }
    return subscribers;
}

int64_t gain_of(const Instance& instance, const std::vector<Subscriber>& subscribers, int32_t topic) {
    const Csr& by_topic = instance.by_topic;
    const int64_t events = instance.events[topic];
    int64_t gain = 0;
    for (int64_t entry = by_topic.offsets[topic]; entry < by_topic.offsets[topic + 1]; ++entry) {
        const Subscriber& subscriber = subscribers[by_topic.values[entry]];
        gain += std::min(subscriber.room, subscriber.slope * events);
    }
    return gain;
}

void serve(const Instance& instance, std::vector<Subscriber>& subscribers, int32_t topic) {
    const Csr& by_topic = instance.by_topic;
    const int64_t events = instance.events[topic];
    for (int64_t entry = by_topic.offsets[topic]; entry < by_topic.offsets[topic + 1]; ++entry) {
        Subscriber& subscriber = subscribers[by_topic.values[entry]];
        subscriber.room -= std::min(subscriber.room, subscriber.slope * events);
    }
}

// F-B3M by gain or by gain per cost. Gains only fall: a topic is valued again when it comes to the top.
Choice lazy_greedy(const Instance& instance, std::vector<Subscriber>& subscribers, bool by_ratio,
                   const std::vector<int32_t>& first_choices = {}) {
    const int32_t num_topics = instance.num_topics();
    Choice choice;
    std::vector<int64_t> gains(num_topics);
    std::vector<int32_t> valued_at(num_topics);
    for (const int32_t topic : first_choices) {
        choice.add(topic, instance.costs[topic], gain_of(instance, subscribers, topic));
        serve(instance, subscribers, topic);
        valued_at[topic] = -1;
    }
    std::vector<Entry> entries;
    for (int32_t topic = 0; topic < num_topics; ++topic) {
        if (valued_at[topic] < 0 || instance.costs[topic] > instance.capacity - choice.cost()) continue;
        gains[topic] = gain_of(instance, subscribers, topic);
        valued_at[topic] = static_cast<int32_t>(choice.order.size());
        if (gains[topic] > 0) entries.push_back({key_of(gains[topic], instance.costs[topic], by_ratio), topic});
    }
    Heap heap(std::move(entries));
    while (!heap.empty()) {
        const int32_t topic = heap.top().topic, now = static_cast<int32_t>(choice.order.size());
        if (instance.costs[topic] > instance.capacity - choice.cost()) {
            heap.pop();
        } else if (valued_at[topic] != now) {
            gains[topic] = gain_of(instance, subscribers, topic);
            valued_at[topic] = now;
            if (gains[topic] > 0) {
                heap.replace_top(key_of(gains[topic], instance.costs[topic], by_ratio));
            } else {
                heap.pop();
            }
        } else {
            serve(instance, subscribers, topic);
            choice.add(topic, instance.costs[topic], gains[topic]);
            heap.pop();
        }
    }
    return choice;
}

// Both rules, the better kept.
Choice greedy_fb3m(const Instance& instance, Stopwatch& watch) {
    std::vector<Subscriber> first = start(instance), second = first;
    Choice by_ratio = watch.time([&] { return lazy_greedy(instance, first, true); });
    Choice by_gain = watch.time([&] { return lazy_greedy(instance, second, false); });
    return by_gain.objective() >= by_ratio.objective() ? by_gain : by_ratio;
}

// The prefix of a run that is worth most together with one more topic, or (-1, -1) when the run itself is worth more.
std::pair<int64_t, int32_t> best_completion(const Instance& instance, std::vector<Subscriber>& subscribers,
                                            const Choice& choice) {
    std::vector<Entry> entries;
    for (int32_t topic = 0; topic < instance.num_topics(); ++topic) {
        if (instance.costs[topic] > instance.capacity) continue;
        const int64_t gain = gain_of(instance, subscribers, topic);
        if (gain > 0) entries.push_back({gain, topic});
    }
    Heap heap(std::move(entries));
    std::vector<char> is_chosen(instance.num_topics());
    int64_t best = choice.objective();
    std::pair<int64_t, int32_t> found{-1, -1};
    int64_t reached = 0, left = instance.capacity;
    for (size_t prefix = 0; prefix < choice.order.size(); ++prefix) {
        while (!heap.empty() && heap.top().key > best - reached) {
            const int32_t topic = heap.top().topic;
            if (is_chosen[topic] || instance.costs[topic] > left) {
                heap.pop();
                continue;
            }
            const int64_t gain = gain_of(instance, subscribers, topic);
            if (gain > best - reached) {
                best = reached + gain;
                found = {static_cast<int64_t>(prefix), topic};
            }
            heap.replace_top(gain);
        }
        is_chosen[choice.order[prefix]] = true;
        serve(instance, subscribers, choice.order[prefix]);
        reached = choice.gained[prefix];
        left = instance.capacity - choice.spent[prefix];
    }
    return found;
}

Choice greedy_max(const Instance& instance, Stopwatch& watch) {
    std::vector<Subscriber> first = start(instance), second = first, third = first;
    Choice choice = watch.time([&] { return lazy_greedy(instance, first, true); });
    const auto found = watch.time([&] { return best_completion(instance, second, choice); });
    if (found.first < 0) return choice;
    std::vector<int32_t> begin(choice.order.begin(), choice.order.begin() + found.first);
    begin.push_back(found.second);
    Choice completed = watch.time([&] { return lazy_greedy(instance, third, true, begin); });
    return completed.objective() > choice.objective() ? completed : choice;
}

// The share of what a subscriber still misses that a topic brings, in units of 2^-32.
int64_t share_of(int64_t room, int64_t events) {
    if (room == 0) return 0;
    return events >= room ? kFull : (events << 32) / room;
}

// B3M by value per cost. Values can rise, so every topic that shares an unsatisfied subscriber with a choice is
// corrected at once. A value that rises moves its topic up in the heap; one that falls is noticed at the top.
Choice eager_greedy(const Instance& instance, std::vector<int64_t>& rooms) {
    const Csr &by_topic = instance.by_topic, &by_subscriber = instance.by_subscriber;
    const std::vector<int64_t>&events = instance.events, &costs = instance.costs;
    const int32_t num_topics = instance.num_topics();
    Choice choice;
    std::vector<int64_t> values(num_topics), placed(num_topics);  // placed: the values behind the keys in the heap
    std::vector<char> waits(num_topics, true);
    std::vector<int32_t> touched, touched_at(num_topics, -1);
    for (int32_t topic = 0; topic < num_topics; ++topic) {
        for (int64_t entry = by_topic.offsets[topic]; entry < by_topic.offsets[topic + 1]; ++entry) {
            values[topic] += share_of(rooms[by_topic.values[entry]], events[topic]);
        }
    }
    std::vector<Entry> entries;
    for (int32_t topic = 0; topic < num_topics; ++topic) {
        placed[topic] = values[topic];
        if (values[topic] == 0 || costs[topic] > instance.capacity) continue;
        entries.push_back({key_of(values[topic], costs[topic], true), topic});
    }
    PlacedHeap heap(std::move(entries), num_topics);
    while (!heap.empty()) {
        const int32_t topic = heap.top().topic;
        if (values[topic] == 0 || costs[topic] > instance.capacity - choice.cost()) {
            heap.pop();
            continue;
        }
        if (values[topic] != placed[topic]) {
            placed[topic] = values[topic];
            heap.replace_top(key_of(values[topic], costs[topic], true));
            continue;
        }
        heap.pop();
        waits[topic] = false;
        touched.clear();
        const int32_t now = static_cast<int32_t>(choice.order.size());
        int64_t gain = 0;
        for (int64_t entry = by_topic.offsets[topic]; entry < by_topic.offsets[topic + 1]; ++entry) {
            const int32_t subscriber = by_topic.values[entry];
            const int64_t room = rooms[subscriber], filled = std::min(room, events[topic]);
            if (filled == 0) continue;
            rooms[subscriber] = room - filled;
            if (filled == room) ++gain;
            for (int64_t place = by_subscriber.offsets[subscriber]; place < by_subscriber.offsets[subscriber + 1];
                 ++place) {
                const int32_t other = by_subscriber.values[place];
                if (!waits[other]) continue;
                values[other] += share_of(room - filled, events[other]) - share_of(room, events[other]);
                if (touched_at[other] != now) {
                    touched_at[other] = now;
                    touched.push_back(other);
                }
            }
        }
        choice.add(topic, costs[topic], gain);
        for (const int32_t other : touched) {
            if (values[other] <= placed[other] || !heap.contains(other)) continue;
            placed[other] = values[other];
            heap.raise(other, key_of(values[other], costs[other], true));
        }
    }
    return choice;
}

Choice greedy_b3m(const Instance& instance, Stopwatch& watch) {
    std::vector<int64_t> rooms = instance.thresholds;
    return watch.time([&] { return eager_greedy(instance, rooms); });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::cerr << "usage: select_greedy DIRECTORY CAPACITY METHOD...\n";
        return 2;
    }
    const Instance instance(argv[1], std::stoll(argv[2]));
    const int64_t idle = std::count(instance.thresholds.begin(), instance.thresholds.end(), 0);
    for (int place = 3; place < argc; ++place) {
        const std::string method = argv[place];
        Stopwatch watch;
        Choice choice;
        if (method == "greedy-fb3m") {
            choice = greedy_fb3m(instance, watch);
        } else if (method == "greedy-max") {
            choice = greedy_max(instance, watch);
        } else if (method == "greedy-b3m") {
            choice = greedy_b3m(instance, watch);
        } else {
            std::cerr << "there is no method " << method << "\n";
            return 2;
        }
        const int64_t objective = choice.objective() + idle * (method == "greedy-b3m" ? 1 : kFull);
        std::cout << method << " " << watch.seconds() << " " << objective << " " << choice.order.size() << "\n";
    }
    return 0;
}
