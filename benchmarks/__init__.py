"""Speed, growth and memory, apart from correctness. Run with ``make bench``."""
