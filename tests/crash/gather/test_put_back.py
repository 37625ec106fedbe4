"""What a nightly backup and a bad morning do: the programs run, their files are copied, the round is opened, both are
killed, and started again from the copies."""

import shutil

from tests.support.gather_processes import Programs, hubbub

ASKED = ["--ask", "histogram:3", "--clients", "12", "--minimum", "3", "--epsilon", "1"]


def answer(programs, number):
    words = ["--leader", programs.leader.address, "--helper", programs.helper.address, "--patience", "120"]
    return hubbub("client", *words, *["1"] * number)["sent"]


def test_files_that_are_put_back_open_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
    names = ("leader", "helper", "q")  # keys too: they are erased when the round is over
    with Programs(tmp_path, *ASKED) as programs:
        programs.helper.ready()
        programs.leader.ready()
        assert answer(programs, 11) == 11
        for name in names:
            shutil.copytree(tmp_path / name, tmp_path / "copy" / name)
        assert answer(programs, 1) == 1  # the round is full, and opened
        first = programs.result()
        assert first["state"] == programs.result(server=programs.helper)["state"] == "opened"
        programs.leader.kill()
        programs.helper.kill()
        for name in names:
            shutil.rmtree(tmp_path / name)
            shutil.copytree(tmp_path / "copy" / name, tmp_path / name)
        programs.helper.start().ready()
        programs.leader.start().ready()
        for server in (programs.leader, programs.helper):
            assert programs.result(server=server)["reason"] == "store_set_back"
        assert "older copy" in programs.leader.stop() + programs.helper.stop()
