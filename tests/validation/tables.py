# SPDX-License-Identifier: Apache-2.0
"""Writes analyzer/VALIDATION.md from scores: every figure in it comes from here, none is typed in."""
import figures

# The goals: prediction error, its 95th percentile, bias, coverage of 90 % intervals, naming, regret, gain.
MEAN_GOAL, P95_GOAL, BIAS_GOAL, COVERAGE_GOAL = 0.05, 0.12, 0.02, (0.85, 0.95)
NAMED_GOAL, REGRET_GOAL, GAIN_GOAL = 0.95, 0.02, 0.10
TITLES = {"a": "(a) PyTorch's DataLoader", "d": "(d) the reference loader with stage costs",
          "e": "(e) PyTorch's DataLoader with real work"}  # fmt: skip


def percent(value, digits=1, sign=False):
    if value is None:
        return "-"
    return ("%+.*f %%" if sign else "%.*f %%") % (digits, 100 * value)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def goal(what, value, reached, wanted):
    return (what, value, wanted, "yes" if reached else "no")


def error_row(name, errors):
    found = figures.summarise(errors)
    return (name, found.count, percent(found.mean_absolute), percent(found.median_absolute),
            percent(found.p95_absolute), percent(found.worst), percent(found.bias, sign=True))  # fmt: skip


ERROR_HEAD = ("", "predictions", "mean absolute", "median", "95th percentile", "worst", "bias")


def curves_section(methods, limit):
    ours = methods["two constants"]
    found = figures.summarise(list(ours.values()))
    rows = [error_row(name, list(errors.values())) for name, errors in methods.items()]
    machines = sorted({key[0] for key in ours})
    per = [(machine.replace("linux_", ""),
            *(percent(figures.mean(abs(e) for key, e in ours.items() if key[0] == machine and key[2] == count))
              for count in sorted({key[2] for key in ours}))) for machine in machines]  # fmt: skip
    return "\n".join([
        "## (c) Public curves, leave-one-decoder-out\n",
        "55 pairs of decoder and machine, with 2, 4 and 8 workers each (source: `tests/validation/data/README.md`).",
        "Known of the decoder: its rate without a loader; of the machine: the curves of its other decoders. Arithmetic",
        "on published figures: the load of this machine plays no part. The law is the harness's own (the handing over",
        "and the consumer's ceiling of `penstock whatif`, with a smooth minimum): there are no traces to give to it.\n",
        table(("goal", "found", "wanted", "reached"),
              [goal("mean absolute error", percent(found.mean_absolute), found.mean_absolute <= limit,
                    "at most " + percent(limit, 0))]),
        table(ERROR_HEAD, rows), table(("mean absolute error", "2 workers", "4", "8"), per)])  # fmt: skip


def goals(scores):
    ours = figures.summarise(scores.errors["penstock"])
    if ours is None:
        return ""
    covered = figures.coverage(scores.intervals, scores.values)
    rows = [
        goal("mean absolute error", percent(ours.mean_absolute), ours.mean_absolute <= MEAN_GOAL, "at most 5 %"),
        goal("95th percentile", percent(ours.p95_absolute), ours.p95_absolute <= P95_GOAL, "at most 12 %"),
        goal("bias", percent(ours.bias, sign=True), abs(ours.bias) <= BIAS_GOAL, "within 2 %"),
        goal("90 % intervals hold", percent(covered), COVERAGE_GOAL[0] <= covered <= COVERAGE_GOAL[1], "85 to 95 %"),
    ]
    # "behind" means that the error of the best baseline is larger than ours. The next table has the
    # baselines' figures.
    best = min((figures.summarise(errors).mean_absolute for method, errors in scores.errors.items()
                if method != "penstock" and errors), default=None)  # fmt: skip
    if best is not None:
        rows.append(goal("best baseline's mean absolute error", percent(best), ours.mean_absolute < best, "behind"))
    named = scores.named["penstock"]
    if named:
        low, high = figures.wilson(sum(named), len(named))
        rows.append(goal("best change named", "%s (%d of %d, 95 %%: %s to %s)" % (
            percent(sum(named) / len(named)), sum(named), len(named), percent(low), percent(high)),
            sum(named) / len(named) >= NAMED_GOAL, "at least 95 %"))  # fmt: skip
    if scores.regrets["penstock"]:
        lost = figures.mean(scores.regrets["penstock"])
        rows.append(goal("regret of the suggestion", percent(lost), lost <= REGRET_GOAL, "at most 2 %"))
    if scores.gain_errors:
        off = figures.mean(abs(error) for error in scores.gain_errors)
        rows.append(goal("gain of what was named, off by", percent(off), off <= GAIN_GOAL, "at most 10 %"))
    return table(("goal", "found", "wanted", "reached"), rows)


def confusion(scores):
    names = ("workers", "prefetch", "step", "none")
    rows = [(truth, *(scores.confusion[truth, named] for named in names)) for truth in names]
    return table(("largest measured gain \\ named", *names), rows)


def grid_section(section, scores, coverage_of_plan):
    done, planned = coverage_of_plan
    noise = figures.repeat_noise(scores.repeats)
    parts = ["## %s\n" % TITLES[section],
             "%d of %d planned runs measured. Repeat noise (standard deviation of one configuration's runs): %s. "
             "An error below that is not meaningful.\n" % (done, planned, percent(noise))]  # fmt: skip
    if not scores.errors["penstock"]:
        parts.append("No configuration was predicted and measured yet.\n")
        return "\n".join(parts)
    parts += [goals(scores),
              table(ERROR_HEAD, [error_row(method, errors) for method, errors in scores.errors.items() if errors]
                    + ([error_row("penstock, speed-up over the source", scores.ratios)] if scores.ratios else [])),
              table(("penstock, by work", *ERROR_HEAD[1:]),
                    [error_row(name, errors) for name, errors in scores.by_family.items()]),
              table(("penstock, by what changed", *ERROR_HEAD[1:]),
                    [error_row(name, errors) for name, errors in sorted(scores.by_change.items())])]  # fmt: skip
    if scores.named["penstock"]:
        parts += ["Naming: of more workers, deeper prefetch and no step, the one whose measured gain is largest (none "
                  "below 5 %; within a fifth of the largest counts as right).\n",
                  table(("", "right", "of", "share"),
                        [(method, sum(hits), len(hits), percent(sum(hits) / len(hits)))
                         for method, hits in scores.named.items() if hits]), confusion(scores)]  # fmt: skip
    if scores.regrets["penstock"]:
        parts += ["Suggestion: the cheapest configuration within 2 % of the best promised; regret is what it loses "
                  "against the best measured one.\n",
                  table(("", "suggestions", "mean regret", "worst"),
                        [(method, len(lost), percent(figures.mean(lost)), percent(max(lost)))
                         for method, lost in scores.regrets.items() if lost])]  # fmt: skip
    return "\n".join(parts)


def provenance(about):
    """The lines below a section's title. `about`: {date, cores, cpu, loads: list, provisional: list of reasons}."""
    loads = about["loads"]
    text = "%s, %d cores (%s)" % (about["date"], about["cores"], about["cpu"])
    if loads:
        text += ("; load average during the runs, which they are part of: %.1f to %.1f, median %.1f"
                 % (min(loads), max(loads), figures.quantile(loads, 0.5)))  # fmt: skip
    if about["provisional"]:
        text += (".\n\n**Provisional, not a verdict on the goals.** " + " ".join(about["provisional"])
                 + " On a quiet machine, `scripts/validate.sh` goes on with it")  # fmt: skip
    return text + ".\n"


def titled(section, about):
    """The section, with a line about date, machine and load below its title."""
    title, rest = section.split("\n", 1)
    return "%s\n\n%s\n%s" % (title, provenance(about), rest.lstrip("\n"))


def carried(document, letter):
    """The section "(letter)" of an earlier document, unchanged; None if it has none."""
    at = document.find("\n## (%s) " % letter)
    end = document.find("\n## ", at + 1)
    return document[at + 1:end if end >= 0 else None].rstrip("\n") + "\n" if at >= 0 else None


def document(sections):
    head = ["# Validation: predictions against measurements\n",
            "Written by `scripts/validate.sh`; no figure here is edited by hand. `tests/validation/` holds the harness, "
            "`build/validation/` what was measured. A section of which nothing is held there stays as it was.\n"]  # fmt: skip
    tail = ["## Left out\n",
            "- Cells in which the machine's own noise exceeds an error are kept, not dropped.",
            "- A \"scaled\" baseline is brought to the recorded rate first, as `penstock whatif` does for itself.\n"]  # fmt: skip
    return "\n".join([*head, *sections, *tail])
