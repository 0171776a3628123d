"""What the documents say is what the program does."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from pubplan.pipeline import REASONS
from pubplan.problems import FAMILIES, family_named
from pubplan.workload import read_workload

from .pages import HOW_TO, ROOT, blocks, commands, run_command, write_files

PAGES = [ROOT / "docs" / "tutorial.md", ROOT / "docs" / "install.md", HOW_TO / "traces.md", HOW_TO / "content.md"]
PYTHON_PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if "```python\n" in page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run_as_they_stand(page: Path, cli, shared_spark, tmp_path: Path, monkeypatch) -> None:
    """Every command of the page succeeds, in order, on the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    write_files(page)
    for command in commands(page):
        run_command(command, cli)


def test_five_clients(cli, tmp_path: Path, monkeypatch) -> None:
    """What the page says of its example: the steps of ann, latencies in microseconds, and who published how much."""
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "how-to" / "content.md"
    write_files(page)
    for command in re.findall(r"^pubplan (.*)", page.read_text(), flags=re.MULTILINE):
        assert cli(*shlex.split(command)).code == 0
    workload, published = (read_workload(tmp_path / name) for name in ("workload", "published"))
    ann, *_ = workload.client_block(0).to_pylist()
    assert ann == {"client": 0, "client_id": "ann", "site": 1, "low_0": 0, "low_1": 4, "high_0": 20, "high_1": 5}
    assert workload.site_latencies.tolist() == [[9000, 1000, 21000], [7000, 22000, 1500]]
    assert published.space.cells == (10, 5)
    assert published.density.sum() == 3
    senders = published.client_block(0, "counts")["counts"].to_pylist()
    assert senders == [[1], [1], [], [], []]


def test_access_logs_become_events(tmp_path: Path, monkeypatch) -> None:
    """The page's recipe takes paths, times with their zone and sizes; what is no request has no topic, but a line."""
    monkeypatch.chdir(tmp_path)
    page = HOW_TO / "traces.md"
    write_files(page)
    (command,) = re.findall(r"^awk .*", page.read_text(), flags=re.MULTILINE)
    with open("access.log", "a") as log:
        log.write('192.0.2.8 - - [28/Feb/2026:23:59:59 -0730] "-" 408 0\n')
        log.write('192.0.2.8 - - [01/Jun/2026:00:00:00 +0000] "GET /a b HTTP/1.1" 400 0\n')
    subprocess.run(command, shell=True, check=True)
    assert Path("requests.tsv").read_text().splitlines() == [
        "topic\ttimestamp\tsize",
        "/feeds/abba\t2026-03-01T10:00:00+0000\t180",
        "/feeds/abba\t2026-03-01T12:30:00+0100\t191",
        "/feeds/ewf\t2026-12-31T12:00:00+0000\t",
        "\t2026-02-28T23:59:59-0730\t",
        "\t2026-06-01T00:00:00+0000\t400",
    ]


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=lambda page: page.stem)
def test_python_runs_as_it_stands(page: Path, tmp_path: Path, monkeypatch) -> None:
    """What the page claims in Python holds, on the files that the page shows, also a second time as in a notebook."""
    monkeypatch.chdir(tmp_path)
    write_files(page)
    code = [content for language, name, content in blocks(page) if language == "python" and not name]
    assert code
    for content in [*code, *code]:
        exec(compile(content, str(page), "exec"), {})


def test_the_peak_factor_is_what_the_page_prints(cli, tmp_path: Path, monkeypatch) -> None:
    """A night of 8 hours at 10 MB/s, 12 hours at 20, two at 30 and two at 50: 480 / 24 = 20 on average, 50 at most."""
    monkeypatch.chdir(tmp_path)
    page = HOW_TO / "choosing.md"
    write_files(page)
    (command,) = commands(page)
    printed = run_command(command, cli)
    assert printed == "mean 20.0 MB/s, peak 50.0 MB/s, peak factor 2.50\n"
    assert f"prints `{printed.strip()}`" in page.read_text()


def test_every_reason_is_documented() -> None:
    """The reference lists the reasons with their meaning, in order."""
    listed = re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "docs" / "reference.md").read_text(), flags=re.MULTILINE)
    assert [(name, said) for name, said in listed if name in REASONS] == list(REASONS.items())


def test_every_method_is_documented() -> None:
    """Each family's page names its methods."""
    for name in FAMILIES:
        text = (ROOT / "docs" / f"{name}.md").read_text()
        assert all(f"`{method}`" in text for method in family_named(name).methods)


def test_the_tutorial_says_what_describe_prints(cli, tmp_path: Path, monkeypatch) -> None:
    """How uneven the workload is: what half of the subscribers, one in a hundred and the greediest one want."""
    monkeypatch.chdir(tmp_path)
    tutorial = ROOT / "docs" / "tutorial.md"
    (generate,) = (command for command in commands(tutorial) if command.startswith("pubplan generate"))
    run_command(generate, cli)
    described = run_command("pubplan describe generated --quiet", cli)
    (wanted,) = (line.split() for line in described.splitlines() if line.startswith("topics per subscriber"))
    said = " ".join(tutorial.read_text().split())
    assert (wanted[4], wanted[6], wanted[8]) == ("1", "23", "136")
    assert "Half of the subscribers want one topic only, one in a hundred wants 23 or more, and one wants 136." in said
    (share,) = re.findall("The most popular 1 % of the topics hold .* of the interests\\.", described)
    assert share in said


def test_the_readme_answers_as_the_demo_does(cli, tmp_path: Path, monkeypatch) -> None:
    """The sentences that follow "then answers:" are those of the workload and the question of scripts/demo."""
    monkeypatch.chdir(tmp_path)
    shown = (ROOT / "README.md").read_text().split("then answers:\n\n")[1].split("\n\n")[0]
    run_command("pubplan generate spotify --scale 0.005 --out demo/workload --quiet", cli)
    question = "pubplan select demo/workload --threshold 27 --capacity 10% --out demo/plan --quiet"
    assert run_command(question, cli).splitlines() == [line.strip() for line in shown.splitlines()]


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Relative links point to files that exist, and to headings that these have."""
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page.read_text()):
        if not target.startswith("http"):
            linked = page.parent / target if target else page
            assert linked.exists(), target
            assert not anchor or anchor in anchors_of(linked), f"{target}#{anchor}"


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/**/*.md")), ids=lambda page: page.name)
def test_every_page_is_in_the_index(page: Path) -> None:
    """docs/README.md leads to every page."""
    index = ROOT / "docs" / "README.md"
    assert page == index or f"({page.relative_to(index.parent)})" in index.read_text()
