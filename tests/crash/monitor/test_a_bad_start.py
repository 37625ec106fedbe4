"""A monitor that cannot start says why, in words, and starts nothing."""

from tests.support.monitor_process import MonitorProcess
from tests.support.small_site import log_source, write_settings


def test_a_taken_port(tmp_path):
    source = log_source(tmp_path / "access.log")
    (tmp_path / "access.log").touch()
    settings = write_settings(tmp_path / "site.toml", str(tmp_path / "site.db"), source)
    with MonitorProcess(settings, tmp_path / "state") as running:
        port = running.ready().rpartition(":")[2]
        other = write_settings(tmp_path / "other.toml", str(tmp_path / "other.db"), source)
        other.write_text(other.read_text().replace("port = 0", f"port = {port}"))
        with MonitorProcess(other, tmp_path / "state") as second:
            assert second.ends() == 2
            assert any("Cannot listen" in line for line in second.errors)
        assert running.stop() == 0
