"""The programs as they are run: both servers, clients and results over HTTP, in the clear and over TLS."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.support.gather_processes import Programs, hubbub

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.gather.line import Line


def authority(folder: Path) -> tuple[Path, Path, Path]:
    """A certificate authority of our own; its file, and certificate and key of a server on this machine."""
    begin, end = datetime.now(UTC) - timedelta(days=1), datetime.now(UTC) + timedelta(days=1)

    def certificate(name, key, issuer, signer, is_authority):
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = x509.CertificateBuilder(
            issuer or subject, subject, key.public_key(), x509.random_serial_number(), begin, end
        )
        made = made.add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        made = made.add_extension(
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
        ).add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        if is_authority:
            usage = dict.fromkeys(
                ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
                 "encipher_only", "decipher_only"), False,
            )  # fmt: skip
            made = made.add_extension(x509.KeyUsage(key_cert_sign=True, crl_sign=True, **usage), critical=True)
        else:
            names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
            made = made.add_extension(names, critical=False)
        return made.sign(signer, hashes.SHA256())

    keys = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = certificate("authority", keys[0], None, keys[0], True)
    server = certificate("server", keys[1], root.subject, keys[0], False)
    paths = folder / "root.pem", folder / "server.pem", folder / "server.key"
    paths[0].write_bytes(root.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(server.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    paths[2].write_bytes(keys[1].private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return paths


def test_a_round_over_tls(tmp_path):
    root, certificate, key = authority(tmp_path)
    tls = ["--certificate", certificate, "--key", key]
    asked = ["--ask", "histogram:3", "--labels", "red,green,blue", "--clients", "6", "--minimum", "3", "--epsilon"]
    programs = Programs(
        tmp_path, *asked, "1600", "--allow-weak", helper_words=tls, leader_words=[*tls, "--authority", root],
        scheme="https",
    )  # fmt: skip
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "q").glob("*.keys")} == {0o600}
    assert programs.told["report_bytes"] > 500
    with programs:
        answers = tmp_path / "answers"
        answers.write_text("red\nblue\nred\nred\nblue\n")
        both = ["--leader", programs.leader.address, "--helper", programs.helper.address]
        words = ["--authority", root, "--epsilon", "10000", "--patience", "120"]
        assert hubbub("client", *both, *words, "--file", answers)["sent"] == 5
        refused = hubbub("client", *both, "--authority", root, "--patience", "9", "green")
        assert refused["error"]["code"] == "budget_exceeded"
        last = ["--plan", programs.plan, "--leader", programs.leader.address]
        assert hubbub("client", *last, *words, "green")["sent"] == 1
        told = programs.result(authority=root)
        assert told["sums"] == [3, 1, 2]
        printed = hubbub("result", programs.helper.address, "--authority", root)
        assert (printed["sums"], printed["reports"]) == ([3, 1, 2], 6)
        assert printed["intervals"][0][0] <= 3 <= printed["intervals"][0][1]
        status = hubbub("status", programs.leader.address, "--authority", root)
        assert status == {"query": "colours", "state": "over", "rounds": 1, "over": 1, "newest": 0}
        stranger = Line(programs.leader.address)  # whoever does not know the authority sends nothing
        with pytest.raises(InvalidInput, match="not trusted here"):
            stranger.get("/v1/gather")
        stranger.close()


def test_keys_made_on_two_machines(tmp_path):
    made = hubbub("keys", tmp_path / "helper.keys")
    told = hubbub(
        "plan", "q", "--out", tmp_path / "q", "--clients", "4", "--minimum", "2", "--epsilon", "1", "--helper-keys",
        made["public"],
    )  # fmt: skip
    assert "helper" not in told
    assert sorted(path.name for path in (tmp_path / "q").iterdir()) == ["leader.keys", "plan.json"]
    again = hubbub(
        "plan", "q", "--out", tmp_path / "q", "--clients", "4", "--minimum", "2", "--epsilon", "1"
    )  # fmt: skip
    assert again["error"]["code"] == "invalid_input"
    assert "there already" in again["error"]["message"]


def test_in_the_clear_on_this_machine_alone(tmp_path):
    hubbub("plan", "q", "--out", tmp_path / "q", "--clients", "4", "--minimum", "2", "--epsilon", "1")
    words = ["q/plan.json", "--keys", "q/helper.keys", "--rounds", "r", "--host", "0.0.0.0", "--port", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "hubbub", "gather", "keyserver", *words], cwd=tmp_path, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2
    assert "Without TLS nothing is served on 0.0.0.0" in done.stderr


@pytest.mark.parametrize("address", ["http://example.org:80", "ftp://127.0.0.1", "http://127.0.0.1/path", "127.0.0.1"])
def test_addresses_that_are_none(address):
    with pytest.raises(InvalidParameter):
        Line(address)
