"""Report the results of `pressroom plugins check` for people and as JUnit XML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from pressroom.cli.output import Output

Outcome = Literal["ok", "failed", "skipped"]


@dataclass(slots=True)
class BrokenPromise:
    """A broken promise: the contract, where, what was seen, and a fix. The checking process sends these as JSON."""

    contract: str
    promise: str
    where: str
    seen: str
    fix: str = ""

    def __str__(self) -> str:
        subject = f"{self.where}: " if self.where else ""
        observed = f"\n    seen: {self.seen}" if self.seen else ""
        return f"{subject}{self.promise}{observed}{f'{chr(10)}    fix: {self.fix}' if self.fix else ''}"


CHECK_FOLDER: Final = "pressroom-check-"
"""Prefix of the temporary folders in which packages are checked."""


@dataclass(slots=True)
class Stage:
    """A stage of the check and its findings. `note` says what it did or why it was skipped."""

    name: str
    plugin: str = ""
    findings: list[BrokenPromise] = field(default_factory=list)
    skipped: bool = False
    note: str = ""
    seconds: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """`failed`, `skipped` or `ok`."""
        if self.findings:
            return "failed"
        return "skipped" if self.skipped else "ok"

    def named_after(self, sources: Mapping[str, str]) -> Stage:
        """Replace paths of temporary copies in the findings with those of the user's files, given as copy to source."""
        for finding in self.findings:
            for copy, source in sources.items():
                finding.where = finding.where.replace(copy, source)
                finding.seen = finding.seen.replace(copy, source)
                finding.fix = finding.fix.replace(copy, source)
        return self


def print_report(output: Output, stages: Sequence[Stage]) -> None:
    """Write a table of the stages, then each broken promise with its location and fix."""
    rows = [
        (stage.outcome, stage.name, stage.plugin, f"{stage.seconds:.1f} s" if stage.seconds else "", _brief(stage))
        for stage in stages
    ]
    output.table(["Outcome", "Stage", "Plugin", "Time", "Notes"], rows)
    for stage in stages:
        for finding in stage.findings:
            output.line("")
            output.line(f"{finding.contract}: {finding}")
    failed = sum(len(stage.findings) for stage in stages)
    output.line("")
    output.line("All checks passed." if not failed else f"Failed checks: {failed}")


def _brief(stage: Stage) -> str:
    return f"{len(stage.findings)} broken" if stage.findings else stage.note


def junit_report(stages: Sequence[Stage]) -> str:
    """Return the stages as JUnit XML for CI services, with a test case per broken promise or passed stage."""
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - not needed by --help; it only writes

    failures = sum(len(stage.findings) for stage in stages)
    total = sum(max(1, len(stage.findings)) for stage in stages)
    root = ET.Element("testsuites", tests=str(total), failures=str(failures))
    for stage in stages:
        name = f"{stage.plugin} {stage.name}".strip()
        suite = ET.SubElement(root, "testsuite", name=name, tests=str(max(1, len(stage.findings))))
        suite.set("failures", str(len(stage.findings)))
        suite.set("time", f"{stage.seconds:.3f}")
        if not stage.findings:
            case = ET.SubElement(suite, "testcase", classname=name, name=stage.name)
            if stage.skipped:
                ET.SubElement(case, "skipped", message=stage.note)
        for finding in stage.findings:
            case = ET.SubElement(suite, "testcase", classname=name, name=f"{finding.where}: {finding.promise}")
            failure = ET.SubElement(case, "failure", message=finding.seen)
            failure.text = str(finding)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
