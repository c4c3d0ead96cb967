"""From paths to files, and from files to documents."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from graphctx.errors import InvalidArgument
from graphctx.ingest.read import ReadFile, Skipped, SourceFile, discover, read_file, readers, registry
from graphctx.ingest.read.source import Source

HOSTILE_CHARS = int(500_000 * max(0.2, float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1.0"))))


def make(root: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def rels(*paths: Path) -> list[str]:
    return [file.rel for file in discover(paths).files]


def reasons(*paths: Path) -> dict[str, str]:
    return {skipped.uri: skipped.reason for skipped in discover(paths).skipped}


def test_a_folder_is_walked_to_the_bottom_in_order(tmp_path: Path) -> None:
    make(tmp_path, **{"b.md": "b", "a/z.txt": "z", "a/b/c.rst": "c", "README": "r", "Makefile": "all:"})
    assert rels(tmp_path) == ["Makefile", "README", "a/b/c.rst", "a/z.txt", "b.md"]


def test_hidden_and_generated_folders_are_passed_over(tmp_path: Path) -> None:
    make(
        tmp_path,
        **{"a.md": "a", ".git/x.md": "x", "node_modules/p/y.md": "y", ".hidden.md": "h", "__pycache__/z.py": "z"},
    )
    make(tmp_path, **{"env/pyvenv.cfg": "home", "env/lib/q.py": "q", ".graphctx/kb.toml": "k", "~$a.docx": "lock"})
    assert rels(tmp_path) == ["a.md"]
    assert reasons(tmp_path) == {}
    assert rels(tmp_path / ".git") == ["x.md"]  # a folder that is named is read


def test_ignore_files_below_and_above_a_folder_are_respected(tmp_path: Path) -> None:
    make(
        tmp_path / "repo",
        **{".gitignore": "build/\n*.log\n", ".git/HEAD": "ref", "docs/.ignore": "draft*\n!draft-2.md\n"},
    )
    make(
        tmp_path / "repo/docs", **{"a.md": "a", "run.log": "l", "build/b.md": "b", "draft-1.md": "1", "draft-2.md": "2"}
    )
    make(tmp_path / "repo/docs/sub", **{".gitignore": "!keep.log\n/own.md\n[\n!\n", "keep.log": "k", "own.md": "o"})
    docs = tmp_path / "repo/docs"
    assert rels(docs) == ["a.md", "draft-2.md", "sub/keep.log"]
    assert discover([docs]).notes == (
        "Ignored because of .gitignore or .ignore: 3 files and 1 folder; --no-ignore reads them",
    )
    everything = discover([docs], ignore_files=False)
    assert (len(everything.files), everything.notes) == (7, ())
    assert rels(docs / "build") == ["b.md"]  # what is named is read, though its folder is ignored
    assert rels(docs / "run.log") == ["run.log"]


def test_patterns_choose_the_files_of_a_folder_and_never_a_file_that_is_named(tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "deep/c.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Text.")
    assert [file.rel for file in discover([tmp_path], include=["*.md"]).files] == ["a.md", "deep/c.md"]
    assert [file.rel for file in discover([tmp_path / "b.txt"], include=["*.md"]).files] == ["b.txt"]


@pytest.mark.parametrize(
    ("include", "exclude", "found"),
    [
        (["*.md"], [], ["a.md", "deep/c.md", "deep/er/d.md"]),
        (["/*.md"], [], ["a.md"]),
        (["deep/"], ["*.txt"], ["deep/c.md", "deep/er/d.md"]),
        (["deep/**/*.md"], ["er/"], ["deep/c.md"]),
        ([], ["deep/", "/b.txt"], ["a.md"]),
        (["*", "!*.txt"], [], ["a.md", "deep/c.md", "deep/er/d.md"]),
    ],
)
def test_patterns_are_those_of_ignore_files(
    tmp_path: Path, include: list[str], exclude: list[str], found: list[str]
) -> None:
    make(tmp_path, **{"a.md": "a", "b.txt": "b", "deep/c.md": "c", "deep/c.txt": "c", "deep/er/d.md": "d"})
    discovery = discover([tmp_path], include=include, exclude=exclude)
    assert [file.rel for file in discovery.files] == found
    assert discovery.ignores(tmp_path / "b.txt")
    assert not discovery.ignores(tmp_path / found[0])


def test_sources_have_their_own_patterns(tmp_path: Path) -> None:
    make(tmp_path, **{"a/x.md": "x", "a/y.txt": "y", "b/x.md": "x", "b/y.txt": "y"})
    sources = [Source(path=str(tmp_path / "a"), include=("*.md",)), Source(path=str(tmp_path / "b"), exclude=("*.md",))]
    assert [str(file.path.relative_to(tmp_path)) for file in discover(sources).files] == ["a/x.md", "b/y.txt"]


def test_a_source_in_the_folder_of_another_is_searched_by_its_own_patterns(tmp_path: Path) -> None:
    make(tmp_path, **{"a.md": "a", "x.txt": "x", "in/b.md": "b", "in/x.txt": "x", "in/deep/c.rst": "c"})
    inner = Source(path=str(tmp_path / "in"), exclude=("*.txt",))
    outer = Source(path=str(tmp_path), exclude=("*.md", "deep/"))
    for sources in ([outer, inner], [inner, outer]):
        found = discover(sources)
        assert [(file.rel, file.root, file.source) for file in found.files] == [
            ("in/b.md", tmp_path, inner),
            ("in/deep/c.rst", tmp_path, inner),
            ("x.txt", tmp_path, outer),
        ]
        assert found.excluded == {tmp_path / "a.md", tmp_path / "in/x.txt"}
    only = Source(path=str(tmp_path), include=("*.none",))
    assert [file.rel for file in discover([only, inner]).files] == ["in/b.md", "in/deep/c.rst"]


@pytest.mark.parametrize("patterns", [{"include": ["*.rst"]}, {"exclude": ["*"]}])
def test_patterns_that_leave_nothing_are_named(tmp_path: Path, patterns: dict[str, list[str]]) -> None:
    make(tmp_path, **{"a.md": "a", "deep/c.md": "c"})
    with pytest.raises(InvalidArgument, match=r"patterns leave no file .*clude \*"):
        discover([tmp_path], **patterns)


def test_a_folder_of_ignored_files_says_why_nothing_is_read(tmp_path: Path) -> None:
    make(tmp_path, **{".gitignore": "*", "a.md": "a"})
    with pytest.raises(InvalidArgument, match=r"1 ignored because of \.gitignore or \.ignore: --no-ignore"):
        discover([tmp_path])


def test_what_is_given_twice_is_read_once_in_any_order(tmp_path: Path) -> None:
    make(tmp_path, **{"docs/a.md": "a", "docs/sub/b.md": "b"})
    paths = [tmp_path / "docs", tmp_path / "docs/sub", tmp_path / "docs/a.md"]
    assert discover(paths) == discover(paths[::-1])
    assert rels(*paths) == ["a.md", "sub/b.md"]


def test_files_that_are_not_read_come_with_a_reason(tmp_path: Path) -> None:
    make(tmp_path, **{"a.md": "a", "b.xyz": "text", "c.png": b"\x89PNG", "noext": "x", "empty.md": ""})
    assert reasons(tmp_path) == {
        "b.xyz": "unsupported type .xyz",
        "c.png": "unsupported type .png",
        "empty.md": "the file is empty (0 bytes)",
        "noext": "unsupported type (no suffix)",
    }


def test_a_file_over_the_limit_is_skipped(tmp_path: Path) -> None:
    make(tmp_path, **{"a.md": "a", "big.md": "x" * 1001})
    discovery = discover([tmp_path], max_bytes=1000)
    assert [file.rel for file in discovery.files] == ["a.md"]
    assert discovery.skipped[0].reason == "1001 bytes are more than the limit of 1000"


def test_links_are_followed_only_inside_the_root(tmp_path: Path) -> None:
    make(tmp_path, **{"root/a.md": "a", "root/.store/c.md": "c", "outside/b.md": "b"})
    root = tmp_path / "root"
    (root / "inside.md").symlink_to(root / ".store/c.md")
    (root / "again.md").symlink_to(root / "a.md")
    (root / "out.md").symlink_to(tmp_path / "outside/b.md")
    (root / "outdir").symlink_to(tmp_path / "outside")
    (root / "broken.md").symlink_to(root / "none.md")
    (root / "self.md").symlink_to(root / "self.md")
    assert rels(root) == ["a.md", "inside.md"]
    assert reasons(root) == {
        "again.md": "a link to a file that is read already",
        "broken.md": "a link to nothing, or to itself",
        "out.md": "a link to outside of the given folder",
        "outdir": "a link to outside of the given folder",
        "self.md": "a link to nothing, or to itself",
    }


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    make(tmp_path, **{"a/x.md": "x", "b/y.md": "y"})
    (tmp_path / "a/up").symlink_to(tmp_path)
    (tmp_path / "a/b").symlink_to(tmp_path / "b")
    (tmp_path / "b/a").symlink_to(tmp_path / "a")
    assert rels(tmp_path) == ["a/x.md", "b/y.md"]
    assert set(reasons(tmp_path)) == {"a/up", "a/b", "b/a"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_not_utf_8_is_skipped_with_the_reason(tmp_path: Path) -> None:
    make(tmp_path, **{"a.md": "a", os.fsdecode(b"caf\xe9.md"): "b", os.fsdecode(b"d\xe9p\xf4t/c.md"): "c"})
    assert rels(tmp_path) == ["a.md"]
    reason = "its name is not valid UTF-8; rename it"
    assert reasons(tmp_path) == {"caf?.md": reason, "d?p?t": reason}
    with pytest.raises(InvalidArgument, match=r"d\?p\?t is not valid UTF-8"):
        discover([tmp_path / os.fsdecode(b"d\xe9p\xf4t")])


def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    make(tmp_path, **{"a.md": "a"})
    os.mkfifo(tmp_path / "pipe.md")
    assert rels(tmp_path) == ["a.md"]
    assert reasons(tmp_path) == {"pipe.md": "not a regular file"}


def discover_without_privileges(folder: Path) -> dict[str, list[list[str]]]:
    """What `discover` gives where permissions bind: also a run by root obeys them without these two capabilities."""
    program = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from graphctx.ingest.read import discover\n"
        "found = discover([Path(sys.argv[1])])\n"
        "print(json.dumps({'files': [f.rel for f in found.files], 'skipped': [[s.uri, s.reason] for s in found.skipped]}))"
    )
    drop = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*drop, sys.executable, "-c", program, str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("mode", [0o000, 0o400])
@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="permissions do not bind root")
def test_a_folder_that_may_not_be_entered_is_skipped_with_the_reason(tmp_path: Path, mode: int) -> None:
    make(tmp_path, **{"a.md": "a", "closed/b.md": "b", "z.md": "z"})
    (tmp_path / "closed").chmod(mode)
    try:
        found = discover_without_privileges(tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o700)
    (skipped,) = found["skipped"]
    assert found["files"] == ["a.md", "z.md"]
    assert skipped[0].startswith("closed")
    assert skipped[1].endswith("cannot be opened: permission denied")


def test_a_missing_path_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="nowhere"):
        discover([tmp_path / "nowhere"])
    with pytest.raises(InvalidArgument, match="No path"):
        discover([])


def test_a_folder_with_nothing_to_read_is_an_error_that_names_some_suffixes(tmp_path: Path) -> None:
    make(tmp_path, **{"a.xyz": "a"})
    with pytest.raises(InvalidArgument, match=r"1 skipped.*\.md.*\.docx") as caught:
        discover([tmp_path])
    assert len(caught.value.message) < 160 + len(str(tmp_path))
    assert set(re.findall(r"\.[a-z]+\b", caught.value.message)) <= set(readers())
    assert ".md" in caught.value.details["supported"]


def one(tmp_path: Path, name: str, content: bytes) -> SourceFile:
    (tmp_path / name).write_bytes(content)
    return SourceFile(name, tmp_path, tmp_path / name)


def test_a_document_carries_the_files_time_in_utc(tmp_path: Path) -> None:
    file = one(tmp_path, "a.md", b"# A\n\ntext")
    os.utime(file.path, (1_700_000_000, 1_700_000_000))
    reading = read_file(file, "docs/a.md")
    (document,), skipped = reading.documents, list(reading.skipped)
    assert (document.uri, document.mtime, document.updated_at) == ("docs/a.md", "2023-11-14T22:13:20Z", None)
    assert skipped == []


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.md", b"", "empty"),
        ("a.md", b"  \n", "no text"),
        ("a.txt", bytes(range(256)) * 10, "binary"),
        ("a.pdf", b"%PDF-1.7 nothing", "damaged"),
    ],
)
def test_a_bad_file_is_skipped_with_a_reason(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    reading = read_file(one(tmp_path, name, content), name)
    documents, (skipped,) = list(reading.documents), reading.skipped
    assert documents == []
    assert skipped.uri == name
    assert reason in skipped.reason


def test_a_file_that_vanishes_or_may_not_be_opened_is_skipped(tmp_path: Path) -> None:
    file = one(tmp_path, "a.md", b"text")
    if os.geteuid() == 0:  # root may open anything: let the file go instead
        file.path.unlink()
    else:
        file.path.chmod(0)
    reading = read_file(file, "a.md")
    documents, (skipped,) = list(reading.documents), reading.skipped
    assert documents == []
    assert skipped.reason.startswith("the file cannot be opened: ")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_in_unicode_is_decoded_with_or_without_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    (document,) = read_file(one(tmp_path, "a.txt", "Grüße aus Köln, 世界".encode(encoding)), "a.txt").documents
    assert document.text == "Grüße aus Köln, 世界"


ACCENTED = {
    "windows-1252": "Åtgärder för att höja säkerheten på ön görs årligen – av hamnkaptenen.",
    "windows-1251": "Проверка системы выполняется каждый день. Сообщите об ошибках.",
    "koi8-r": "Проверка системы выполняется каждый день. Сообщите об ошибках.",
    "iso-8859-2": "Zażółć gęślą jaźń. Proszę sprawdzić łącza na stronie głównej każdego dnia.",
    "cp932": "システムの確認は毎日行われます。",
}


@pytest.mark.parametrize("encoding", ACCENTED)
@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.rst"])
def test_text_in_another_encoding_is_read_with_a_note(tmp_path: Path, name: str, encoding: str) -> None:
    reading = read_file(one(tmp_path, name, ACCENTED[encoding].encode(encoding)), name)
    assert [document.text for document in reading.documents] == [ACCENTED[encoding]]
    assert reading.notes == (f"{name}: read as {encoding}",)


def test_damaged_utf8_keeps_what_is_whole(tmp_path: Path) -> None:
    reading = read_file(one(tmp_path, "a.md", "Grüße aus Köln".encode() + b" \xff end"), "a.md")
    assert reading.documents[0].text == "Grüße aus Köln \ufffd end"
    assert "UTF-8" in reading.notes[0]


@pytest.mark.timeout(60)  # minutes to hours if any of it were quadratic
@pytest.mark.parametrize("ending", [".md", ".txt", ".rst", ".html", ".py"])
@pytest.mark.parametrize("unit", ["a", "[", "`` `", "<b", "- ", "*_", "<a '", "|", "[x](", "<!--"])
def test_a_long_hostile_line_is_read_or_refused_in_bounded_time(ending: str, unit: str) -> None:
    data = (unit * (HOSTILE_CHARS // len(unit))).encode("utf-8")
    with contextlib.suppress(InvalidArgument):
        readers()[ending].read(data, f"huge{ending}")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("ending", [".md", ".mdx", ".txt", ".rst", ".html", ".py"])
def test_megabytes_on_one_line_are_read(ending: str) -> None:
    text = "lorem ipsum dolor sit amet. " * (10 * HOSTILE_CHARS // 28)
    (document,) = readers()[ending].read(text.encode("utf-8"), f"huge{ending}").documents
    (block,) = document.blocks
    assert document.text[block.start_char : block.end_char] == text.rstrip()


def test_a_file_of_one_endless_line_is_data_and_no_document(tmp_path: Path) -> None:
    reading = read_file(one(tmp_path, "dump.txt", b"word " * 2_000_001), "dump.txt")
    documents, (skipped,) = list(reading.documents), reading.skipped
    assert documents == []
    assert skipped.reason == "one of its lines has more than 10,000,000 characters: data, not text to read"


class BrokenReader:
    media_types: ClassVar[Mapping[str, str]] = {".broken": "text/x-broken"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        raise KeyError("page 7")


def test_an_unexpected_error_of_a_reader_skips_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "READERS", [*registry.READERS, BrokenReader()])
    (tmp_path / "a.broken").write_text("x", "utf-8")
    (file,) = discover([tmp_path]).files
    reading = read_file(file, "a.broken")
    documents, (skipped,) = list(reading.documents), reading.skipped
    assert documents == []
    assert skipped == Skipped("a.broken", "the reader of .broken files failed: KeyError: 'page 7'")
