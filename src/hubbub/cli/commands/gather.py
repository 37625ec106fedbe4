"""`hubbub gather`: statistics without a trusted server: plan a query, run either server, answer, read the result."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.files import check_output, write_file

if TYPE_CHECKING:
    from hubbub.gather.helper_desk import HelperDesk
    from hubbub.gather.issuer_desk import IssuerDesk
    from hubbub.gather.leader_desk import LeaderDesk
    from hubbub.server import Tls

app = typer.Typer(
    help="Statistics without a trusted server: two servers that learn only the sum.", no_args_is_help=True
)

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The public plan, as `hubbub gather plan` writes it.")]
Keys = Annotated[Path, typer.Option("--keys", help="This server's own keys: a file that nobody else may read.")]
Rounds = Annotated[Path, typer.Option("--rounds", help="A folder for this server's rounds, a file each.")]
Host = Annotated[str, typer.Option(help="The address to listen on.")]
Certificate = Annotated[Path | None, typer.Option("--certificate", help="This server's certificate (PEM), for TLS.")]
Key = Annotated[Path | None, typer.Option("--key", help="The certificate's key (PEM).")]
Authority = Annotated[
    Path | None, typer.Option("--authority", help="Certificates to trust (PEM); default: those of the system.")
]
UntilOver = Annotated[bool, typer.Option("--until-over", help="Stop when the last round is over.")]
LeaderAt = Annotated[str, typer.Option("--leader", help="Where the first server is: https://name:port.")]
HelperAt = Annotated[str, typer.Option("--helper", help="Where the second server is: https://name:port.")]


@app.callback()
def gather() -> None:
    """Statistics without a trusted server: two servers that learn only the sum."""


@app.command("keys")
def keys(
    out: Annotated[Path, typer.Argument(help="Where to write the secret keys. They belong to one server.")],
    as_json: Json = False,
) -> None:
    """Make a server's keys; what is printed is public, and goes to whoever plans."""
    from hubbub.gather.server_keys import ServerKeys

    output = Output(as_json)
    check_output(out)
    made = ServerKeys.make()
    made.save(out)
    output.text(str(made.public))
    output.document({"public": str(made.public), "keys": str(out)})


@app.command("plan")
def plan(
    name: Annotated[str, typer.Argument(help="What is asked, in some words.")],
    out: Annotated[Path, typer.Option("--out", help="A folder for the plan and the servers' keys.")],
    clients: Annotated[int, typer.Option(help="The most reports that are taken.", min=1)],
    minimum: Annotated[int, typer.Option(help="The fewest of which a sum is opened.", min=1)],
    ask: Annotated[
        str,
        typer.Option("--ask", help="count, sum:MOST, sum_vec:LENGTH:MOST, histogram:BUCKETS or multihot:LENGTH:MOST."),
    ] = "count",
    labels: Annotated[str, typer.Option(help="Names of the numbers, with commas; default: 0, 1, 2 …")] = "",
    epsilon: Annotated[str | None, typer.Option(help="What one answer may change, as a factor e^epsilon.")] = None,
    rho: Annotated[str | None, typer.Option(help="In its place: Gaussian noise of the servers.")] = None,
    share_variance: Annotated[str | None, typer.Option(help="In its place: the variance of a client's share.")] = None,
    lying: Annotated[
        int | None, typer.Option(help="Noise in clients' shares: how many may leave theirs out.", min=1)
    ] = None,
    scheme: Annotated[str, typer.Option(help="prio3, or homomorphic (clients are trusted not to lie).")] = "prio3",
    protects: Annotated[str, typer.Option(help="What the noise hides: answer or presence.")] = "answer",
    allow_weak: Annotated[bool, typer.Option("--allow-weak", help="Accept an epsilon that promises nothing.")] = False,
    opens: Annotated[str, typer.Option(help="When clients may begin to answer (ISO 8601); default: now.")] = "",
    every: Annotated[float, typer.Option("--lasts", help="Seconds in which a round takes answers.", min=0.1)] = 3600,
    ticks: Annotated[int, typer.Option("--rounds", help="How many rounds follow one another.", min=1)] = 1,
    grace: Annotated[float, typer.Option(help="Seconds after its close in which a round must be done.")] = 86400,
    leader_keys: Annotated[
        str | None, typer.Option(help="The first server's public keys, if they were made there.")
    ] = None,
    helper_keys: Annotated[
        str | None, typer.Option(help="The second server's public keys, if they were made there.")
    ] = None,
    tickets: Annotated[
        Path | None,
        typer.Option(help="An issuer's public keys (FILE.public): who answers needs a ticket."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Plan a query: the public file for all, and for each server its keys, which nobody else may have.

    Who has both servers' keys sees all answers. So make one server's keys there (`hubbub gather keys`), give the public
    half here, and run this where the other server is.
    """
    from hubbub.gather.asking import question
    from hubbub.gather.planning import planned
    from hubbub.gather.sizes import report_size
    from hubbub.gather.tickets import load_public_keys

    output = Output(as_json)
    circuit = question(ask)
    made, secrets = planned(
        name, circuit, clients=clients, minimum=minimum, epsilon=epsilon, rho=rho, share_variance=share_variance,
        lying=lying, scheme=scheme, protects=protects, allow_weak=allow_weak,
        opens=_time(opens) if opens else datetime.now(UTC), every=timedelta(seconds=every), ticks=ticks,
        grace=timedelta(seconds=grace), labels=[one for one in labels.split(",") if one],
        leader_keys=leader_keys, helper_keys=helper_keys, issuer=[] if tickets is None else load_public_keys(tickets),
    )  # fmt: skip
    paths = {"plan": out / "plan.json", "leader": out / "leader.keys", "helper": out / "helper.keys"}
    paths = {what: path for what, path in paths.items() if what == "plan" or what in secrets}
    with suppress(FileExistsError):
        out.mkdir(mode=0o700, parents=True)
    for path in paths.values():
        if path.exists():
            raise InvalidInput(f"{path} is there already: keys that are lost open nothing.", "Choose another folder.")
    for what, one in secrets.items():
        one.save(paths[what])
    write_file(paths["plan"], made.encode())
    error = made.query.noise.variance(minimum) ** 0.5
    size = report_size(made)
    output.text(made.query.promise)
    output.text(
        f"Each of {circuit.output_length:,} numbers has a standard error of {error:.3g}. A report has {size:,} bytes."
    )
    output.text(f"Answers are taken from {made.opens.isoformat()} until {made.closes(ticks - 1).isoformat()}.")
    for what, path in paths.items():
        output.text(f"{what}: {path}")
    if len(secrets) == 2:
        output.note("Both servers' keys were made here: move each to its server, and delete what is left here.")
    output.document(
        {
            "promise": made.query.promise,
            "epsilon": float(made.query.noise.strength),
            "rounds": ticks,
            "standard_error": error,
            "report_bytes": size,
            "opens": made.opens.isoformat(),
            "closes": made.closes(ticks - 1).isoformat(),
            **{what: str(path) for what, path in paths.items()},
        }
    )


def leader(
    plan_file: PlanFile,
    keys_file: Keys,
    rounds: Rounds,
    helper: HelperAt,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.", min=0, max=65535)] = 8083,
    certificate: Certificate = None,
    key: Key = None,
    authority: Authority = None,
    until_over: UntilOver = False,
    as_json: Json = False,
) -> None:
    """The first server: takes reports, checks them with the second one, adds and forgets. Ctrl-C stops it."""
    from hubbub.gather.leader_desk import LeaderDesk
    from hubbub.gather.line import Line
    from hubbub.gather.peer import PeerLine
    from hubbub.gather.plan import Plan
    from hubbub.gather.server_keys import ServerKeys

    output = Output(as_json)
    own = ServerKeys.load(keys_file)
    line = Line(helper, authority=authority)
    desk = LeaderDesk(
        Plan.load(plan_file), own, rounds, lambda shared: PeerLine(line, shared), say=output.note,
        on_over=lambda: own.erase(keys_file),
    )  # fmt: skip
    _serve(desk, output, host, port, _tls(certificate, key), until_over)


def helper(
    plan_file: PlanFile,
    keys_file: Keys,
    rounds: Rounds,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.", min=0, max=65535)] = 8084,
    certificate: Certificate = None,
    key: Key = None,
    as_json: Json = False,
) -> None:
    """The second server: checks with the first, adds and forgets; opens one sum of enough reports. Ctrl-C stops it."""
    from hubbub.gather.helper_desk import HelperDesk
    from hubbub.gather.plan import Plan
    from hubbub.gather.server_keys import ServerKeys

    output = Output(as_json)
    own = ServerKeys.load(keys_file)
    desk = HelperDesk(Plan.load(plan_file), own, rounds, say=output.note, on_over=lambda: own.erase(keys_file))
    _serve(desk, output, host, port, _tls(certificate, key), until_over=False)


for _name in ("leader", "aggregator"):
    app.command(_name)(leader)
for _name in ("helper", "keyserver"):
    app.command(_name)(helper)


@app.command("live")
def live(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The settings file; docs/gather.md has a sample.")],
    as_json: Json = False,
) -> None:
    """The first server with a ledger: each round is paid for before anybody is asked, and published on a dashboard."""
    from hubbub.monitor.gather_live import GatherLive
    from hubbub.monitor.gather_settings import GatherSettings
    from hubbub.monitor.toml import read_toml

    output = Output(as_json)
    with GatherLive(read_toml(path, GatherSettings, "docs/gather.md has a sample."), output.note) as running:
        output.text(f"{running.address}  clients answer here")
        if running.dashboard:
            output.text(f"The dashboard: {running.dashboard}")
        output.document({"address": running.address, "dashboard": running.dashboard})
        running.run()


@app.command("issuer-keys")
def issuer_keys(
    out: Annotated[Path, typer.Argument(help="Where to write the secret keys; FILE.public goes to whoever plans.")],
    ticks: Annotated[int, typer.Option("--rounds", help="How many rounds the plan will have.", min=1, max=10000)] = 1,
    as_json: Json = False,
) -> None:
    """Make an issuer's keys for tickets, one for each round."""
    from hubbub.gather.tickets import TicketKey, save_keys

    output, public = Output(as_json), out.with_name(out.name + ".public")
    check_output(out)
    made = [TicketKey.make() for _ in range(ticks)]
    save_keys(out, made)
    write_file(public, "".join(f"{key.public}\n" for key in made).encode())
    output.text(f"secret: {out}\npublic: {public}")
    output.document({"keys": str(out), "public": str(public)})


@app.command("issuer")
def issuer(
    plan_file: PlanFile,
    keys_file: Annotated[Path, typer.Option("--keys", help="The issuer's secret keys.")],
    codes: Annotated[Path, typer.Option("--codes", help="Invitations, one a line, of at least 16 characters.")],
    given: Annotated[Path, typer.Option("--given", help="A file in which is kept who has had a ticket.")],
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.", min=0, max=65535)] = 8085,
    certificate: Certificate = None,
    key: Key = None,
    as_json: Json = False,
) -> None:
    """Give tickets to whoever shows an invitation: one for each round, without seeing which. Ctrl-C stops it."""
    from hubbub.gather.issuer_desk import IssuerDesk
    from hubbub.gather.plan import Plan
    from hubbub.gather.tickets import load_keys

    desk = IssuerDesk(Plan.load(plan_file), load_keys(keys_file), _lines(codes, "invitations, one a line"), given)
    _serve(desk, Output(as_json), host, port, _tls(certificate, key), until_over=False)


@app.command("ticket")
def ticket(
    plan_file: PlanFile,
    issuer_at: Annotated[str, typer.Option("--issuer", help="Where the issuer is: https://name:port.")],
    code: Annotated[Path, typer.Option("--code", help="A file with your invitation.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write the tickets, one for each round.")],
    authority: Authority = None,
    patience: Annotated[float, typer.Option(help="Seconds for which it is tried.")] = 60,
    as_json: Json = False,
) -> None:
    """Get your tickets for all rounds of a plan: long before they are spent, so that nobody can match the moments."""
    from hubbub.gather.line import Line
    from hubbub.gather.plan import Plan
    from hubbub.gather.sending import fetch_ticket

    output, made = Output(as_json), Plan.load(plan_file)
    check_output(out)
    line, (invitation, *_) = Line(issuer_at, authority=authority), _lines(code, "your invitation") or [""]
    got = [fetch_ticket(made, line, tick, invitation, patience) for tick in range(made.ticks)]
    write_file(out, "".join(f"{one}\n" for one in got).encode(), mode=0o600)
    output.text(f"{len(got):,} tickets: {out}")
    output.document({"tickets": len(got), "out": str(out)})


@app.command("client")
def client(
    leader: LeaderAt,
    answers: Annotated[list[str] | None, typer.Argument(metavar="ANSWER…", help="A number or a label.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="Many answers, one a line: for tests.")] = None,
    plan_file: Annotated[Path | None, typer.Option("--plan", help="The plan, from somebody whom you trust.")] = None,
    helper: Annotated[str, typer.Option("--helper", help="Where the second server is: both must tell one plan.")] = "",
    tickets: Annotated[Path | None, typer.Option(help="Your tickets, as `hubbub gather ticket` writes them.")] = None,
    epsilon: Annotated[str, typer.Option(help="Answer nothing that promises less than this.")] = "20",
    authority: Authority = None,
    patience: Annotated[float, typer.Option(help="Seconds for which it is tried.")] = 60,
    as_json: Json = False,
) -> None:
    """Answer a query. Give the plan as a file, or both servers' addresses: one alone could name false keys."""
    from hubbub.gather.asking import answer
    from hubbub.gather.line import Line
    from hubbub.gather.plan import Plan
    from hubbub.gather.sending import Sender, fetch_plan

    output = Output(as_json)
    line = Line(leader, authority=authority)
    if (plan_file is None) == (not helper):
        raise InvalidParameter("Give the plan with --plan, or the second server's address with --helper.", "Not both.")
    made = Plan.load(plan_file) if plan_file else fetch_plan((line, Line(helper, authority=authority)), patience)
    given = list(answers or []) + ([] if file is None else _lines(file, "one answer a line"))
    ready = [answer(made.query.circuit, made.labels, text) for text in given]
    sender = Sender(made, line, epsilon=epsilon, patience=patience)
    output.note(made.query.promise)
    held = {} if tickets is None else dict(enumerate(_lines(tickets, "your tickets, one a line")))
    for one in ready:
        sender.send(one, held)
    output.text(f"{len(ready):,} sent")
    output.document({"sent": len(ready), "promise": made.query.promise})


@app.command("result")
def result(
    server: Annotated[str, typer.Argument(help="The address of either server.")],
    tick: Annotated[int, typer.Option("--round", help="Which round.", min=0)] = 0,
    authority: Authority = None,
    as_json: Json = False,
) -> None:
    """What a round came to: noisy sums with their intervals, how many answered, and what was promised."""
    from hubbub.gather.line import Line
    from hubbub.gather.opened import Opened

    output = Output(as_json)
    with Line(server, authority=authority) as line:
        facts = _json(line.get(f"/v1/gather/rounds/{tick}"))
    if facts.get("state") == "opened":
        labels = facts["labels"]
        names = ("query", "sums", "reports", "asked", "variance", "promise", "attested")
        one = Opened(**{name: facts[name] for name in names})
        rows = [[label, f"{v.value:,.0f}", v.interval] for label, v in zip(labels, one.values, strict=True)]
        output.table(one.query, ["", "noisy sum", "interval"], rows)
        output.text(f"{one.reports:,} answered, of at most {one.asked:,}. {one.promise} {one.attested}".strip())
        facts["intervals"] = [[v.lower, v.upper] for v in one.values]
    else:
        output.text(f"round {tick}: {facts.get('state')} {facts.get('reason', '')}".strip())
    output.document(facts)


@app.command("status")
def status(
    server: Annotated[str, typer.Argument(help="The address of either server.")],
    authority: Authority = None,
    as_json: Json = False,
) -> None:
    """How far the rounds of a server are."""
    from hubbub.gather.line import Line

    output = Output(as_json)
    with Line(server, authority=authority) as line:
        facts = _json(line.get("/v1/gather/status"))
    output.text(f"{facts.get('query')}: {facts.get('state')}, {facts.get('over')} of {facts.get('rounds')} rounds over")
    output.document(facts)


def _serve(
    desk: LeaderDesk | HelperDesk | IssuerDesk, output: Output, host: str, port: int, tls: Tls | None, until_over: bool
) -> None:
    from hubbub.gather.running import Driver
    from hubbub.server import ServerSettings, Serving, create_gather_app

    settings = ServerSettings(title="Hubbub", host=host, port=port)
    serving = Serving(create_gather_app(desk, settings=settings, tls=tls is not None), tls=tls)
    with Driver(desk, output.note, serving.leave if until_over else lambda: None):
        output.text(f"{serving.address}  {desk.plan.query.name}")
        output.document({"address": serving.address, "query": desk.plan.query.name})
        serving.run()


def _tls(certificate: Path | None, key: Path | None) -> Tls | None:
    from hubbub.server import Tls

    if (certificate is None) != (key is None):
        raise InvalidParameter("TLS needs a certificate and its key.", "Give --certificate and --key.")
    return None if certificate is None or key is None else Tls(certificate, key)


def _time(text: str) -> datetime:
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidParameter(f"{text!r} is no time.", "2026-07-01T12:00:00+00:00 is one.") from None
    return read if read.tzinfo else read.astimezone()


def _lines(path: Path, of: str) -> list[str]:
    try:
        return path.read_text().split()
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"{path} cannot be read.", f"Give a file with {of}.") from None


def _json(data: bytes) -> dict[str, Any]:
    try:
        facts = json.loads(data)
    except ValueError:
        facts = None
    if not isinstance(facts, dict):
        raise InvalidInput("What answers there is no server of a query.", "Look at the address.")
    return facts
