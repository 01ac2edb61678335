#!/usr/bin/python3
"""What meta.json says of the work tree, against git itself; and that nothing of a repository is run.

calque reads HEAD, refs, configuration and the commit without git, whose configuration may name
programs of whoever wrote it.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from peers import CALQUE, Report

ENV = {**os.environ, "GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "n > m",
       "GIT_COMMITTER_EMAIL": "c@example.com", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
SIGNED = """tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904
author a <a@b> 1700000000 +0000
committer a <a@b> 1700000000 +0000
gpgsig -----BEGIN PGP SIGNATURE-----
 
 abcd
 -----END PGP SIGNATURE-----

x
"""
SOURCE = "def forward(x: Tensor) -> Tensor:\n  return torch.relu(x)\n"


def git(where, *words, date="2022-03-04T05:06:07 -0330"):
    done = subprocess.run(["git", *words], cwd=where, env={**ENV, "GIT_COMMITTER_DATE": date},
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


def meta(where, source):
    out = source.parent / "case"
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run([CALQUE, "testcase", source, out, "--input", "2"], cwd=where, check=True,
                   capture_output=True, timeout=600)
    return json.loads((out / "meta.json").read_text()).get("git")


def expect(where, source, remote="origin"):
    expected = {"branch": git(where, "rev-parse", "--abbrev-ref", "HEAD"), "commit": git(where, "rev-parse", "HEAD"),
                "remote": remote, "commit_date": git(where, "show", "-s", "--format=%ci", "HEAD")}
    got = meta(where, source)
    assert got == expected, f"{got}, git says {expected}"


def new(folder, name, commits=1):
    where = folder / name
    where.mkdir()
    git(where, "init", "-q", "-b", "feature/x")
    for i in range(commits):
        git(where, "commit", "-q", "--allow-empty", "-m", f"m{i}\n\ncommitter x <y> 1 +0000\n{'text ' * 200}",
            date=f"20{i % 80 + 10}-03-04T05:06:07 +0900")
    return where


def check_layouts(report, folder, source):
    with report.case("a plain repository, and a folder inside it"):
        where = new(folder, "plain")
        expect(where, source)
        (where / "a/b").mkdir(parents=True)
        expect(where / "a/b", source)
        assert meta(where / ".git", source) is None, "inside .git is not a work tree"
    with report.case("packed refs and packed objects"):
        where = new(folder, "packed", 3)
        git(where, "gc", "-q", "--aggressive")
        assert not list((where / ".git/refs/heads").glob("**/x"))
        expect(where, source)
    with report.case("commits that are deltas"):
        where = new(folder, "deltas", 40)
        git(where, "repack", "-adfq", "--depth=50", "--window=100")
        lines = git(where, "verify-pack", "-v", *map(str, (where / ".git/objects/pack").glob("*.idx")))
        deltas = [line.split()[0] for line in lines.splitlines() if len(line.split()) == 7]
        assert deltas, "git made no deltas"
        for commit in deltas[:5] + deltas[-2:]:
            git(where, "checkout", "-q", commit)
            expect(where, source)
    with report.case("a detached HEAD"):
        where = new(folder, "detached", 2)
        git(where, "checkout", "-q", "HEAD~1")
        expect(where, source)
    with report.case("a second work tree"):
        where = new(folder, "first")
        git(where, "worktree", "add", "-q", folder / "second", "-b", "other")
        git(folder / "second", "commit", "-q", "--allow-empty", "-m", "m")
        expect(folder / "second", source)
        git(where, "pack-refs", "--all")
        expect(folder / "second", source)
    with report.case("a submodule's .git is a file with a relative path"):
        where = new(folder, "outer")
        git(where, "-c", "protocol.file.allow=always", "submodule", "add", "-q", folder / "plain", "sub")
        assert (where / "sub/.git").is_file()
        expect(where / "sub", source, remote=str(folder / "plain"))
    with report.case("no commit yet"):
        (folder / "unborn").mkdir()
        git(folder / "unborn", "init", "-q", "-b", "b")
        got = meta(folder / "unborn", source)
        assert got == {"branch": "b", "commit": "", "remote": "origin", "commit_date": ""}, got


REMOTES = {
    "git@example.com:x": "git@example.com:x",
    "https://example.com/a.git": "https://example.com/a.git",
    "https://user:secret@example.com/a@b.git": "https://example.com/a@b.git",
    "https://token@example.com:8443/a": "https://example.com:8443/a",
    "https://us@er:sec:ret@example.com": "https://example.com",
    "https://example.com/a?access_token=secret": "https://example.com/a",
    "ssh://git:secret@example.com/a": "ssh://git@example.com/a",
    "ssh://git@example.com:22/a": "ssh://git@example.com:22/a",
    "/path/with \"quotes\" ; and # signs": "/path/with \"quotes\" ; and # signs",
}


def check_remotes(report, folder, source):
    where = new(folder, "remotes")
    for url, expected in REMOTES.items():
        with report.case(f"the remote {url}"):
            git(where, "config", "remote.origin.url", url)
            expect(where, source, remote=expected)
    with report.case("other remotes and sections are others"):
        (where / ".git/config").write_text('[core]\n\turl = no\n[remote "originx"]\n url=no\n'
                                           '[REMOTE "origin"] # the one\n urls = no\n  URL = "a b"c \\\n d ; no\n')
        expect(where, source, remote="a bc  d")


def check_hostile(report, folder, source):
    where, ran = new(folder, "hostile"), folder / "ran"
    evil = folder / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {ran}\n")
    evil.chmod(0o755)
    with report.case("a program of the configuration is not run"):
        for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "core.hooksPath", "gpg.program",
                    "remote.origin.uploadpack", "diff.external", "alias.rev-parse"):
            git(where, "config", key, str(evil))
        git(where, "config", "log.showSignature", "true")
        git(where, "config", "remote.origin.url", f"ext::{evil}")
        commit = subprocess.run(["git", "hash-object", "-t", "commit", "-w", "--stdin"], cwd=where, check=True,
                                input=SIGNED.encode(), capture_output=True).stdout.decode().strip()
        git(where, "update-ref", "HEAD", commit)
        got = meta(where, source)
        assert got["remote"] == f"ext::{evil}" and got["commit_date"] == "2023-11-14 22:13:20 +0000", got
        assert not ran.exists()
    for name, spoil in {
        "HEAD leads out": lambda g: (g / "HEAD").write_text("ref: refs/../../../secret\n"),
        "HEAD is a FIFO": lambda g: ((g / "HEAD").unlink(), os.mkfifo(g / "HEAD")),
        "config is a FIFO": lambda g: ((g / "config").unlink(), os.mkfifo(g / "config")),
        "config is large": lambda g: (g / "config").write_text("[remote \"origin\"]\n" + "a = b\n" * 100000),
        "a ref is a cycle": lambda g: (g / "refs/heads/feature/x").write_text("ref: refs/heads/feature/x"),
        "HEAD is a device": lambda g: ((g / "HEAD").unlink(), (g / "HEAD").symlink_to("/dev/zero")),
        "no UTF-8": lambda g: (g / "config").write_bytes(b"[remote \"origin\"]\n url = \xff\xfe\n"),
        "damaged object": lambda g: [(p.chmod(0o644), p.write_bytes(p.read_bytes()[:20]))
                                     for p in (g / "objects").rglob("*") if p.is_file()],
    }.items():
        with report.case(f"hostile: {name}"):
            where = new(folder, name)
            (folder / "secret").write_text("0" * 40)
            spoil(where / ".git")
            got = meta(where, source)
            assert got is None or "0" * 40 not in got["commit"], got


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "f.py"
        source.write_text(SOURCE)
        if shutil.which("git"):
            check_layouts(report, folder, source)
            check_remotes(report, folder, source)
            check_hostile(report, folder, source)
        else:
            report.skipped("git", "it is not installed")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
