"""The use cases of Handrail as plain functions: what every surface calls.

This is the only place where stores, codecs and learning are wired together. Each function returns a frozen
struct that a surface formats or prints as JSON; none of them prints. Loaded on first use, so that a surface can
import this package and still start at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handrail.exports import load

if TYPE_CHECKING:
    from handrail.app.answering import Answered as Answered
    from handrail.app.answering import answer as answer
    from handrail.app.answering import decline as decline
    from handrail.app.answering import find_ask as find_ask
    from handrail.app.blueprinting import BlueprintDrawing as BlueprintDrawing
    from handrail.app.blueprinting import BlueprintList as BlueprintList
    from handrail.app.blueprinting import BlueprintNotFound as BlueprintNotFound
    from handrail.app.blueprinting import BlueprintReport as BlueprintReport
    from handrail.app.blueprinting import BlueprintRow as BlueprintRow
    from handrail.app.blueprinting import CheckedBlueprint as CheckedBlueprint
    from handrail.app.blueprinting import blueprint_schema as blueprint_schema
    from handrail.app.blueprinting import check_blueprints as check_blueprints
    from handrail.app.blueprinting import draw_blueprint as draw_blueprint
    from handrail.app.blueprinting import list_blueprints as list_blueprints
    from handrail.app.blueprinting import load_blueprint as load_blueprint
    from handrail.app.blueprinting import spell_blueprint as spell_blueprint
    from handrail.app.contexts import Context as Context
    from handrail.app.contexts import context_of as context_of
    from handrail.app.controlling import Sent as Sent
    from handrail.app.controlling import Wish as Wish
    from handrail.app.controlling import send as send
    from handrail.app.counting import DamagedSession as DamagedSession
    from handrail.app.counting import MomentRow as MomentRow
    from handrail.app.counting import MomentSummary as MomentSummary
    from handrail.app.detaching import Detached as Detached
    from handrail.app.detaching import detach as detach
    from handrail.app.diagnosing import Checkup as Checkup
    from handrail.app.diagnosing import Complaint as Complaint
    from handrail.app.diagnosing import DoctorReport as DoctorReport
    from handrail.app.diagnosing import doctor as doctor
    from handrail.app.following import FollowedMessage as FollowedMessage
    from handrail.app.following import FollowedMoment as FollowedMoment
    from handrail.app.following import FollowedSession as FollowedSession
    from handrail.app.following import FollowEvent as FollowEvent
    from handrail.app.following import FollowNotice as FollowNotice
    from handrail.app.following import FollowOptions as FollowOptions
    from handrail.app.following import follow as follow
    from handrail.app.forking import Forked as Forked
    from handrail.app.forking import fork as fork
    from handrail.app.journals import drafts_folder as drafts_folder
    from handrail.app.judging import with_judge as with_judge
    from handrail.app.listing import SessionFilter as SessionFilter
    from handrail.app.listing import SessionList as SessionList
    from handrail.app.listing import SessionRow as SessionRow
    from handrail.app.listing import list_sessions as list_sessions
    from handrail.app.machine import Judging as Judging
    from handrail.app.machine import Machine as Machine
    from handrail.app.machine import open_machine as open_machine
    from handrail.app.marking import Marked as Marked
    from handrail.app.marking import load_corrections as load_corrections
    from handrail.app.marking import mark as mark
    from handrail.app.mining import MomentFilter as MomentFilter
    from handrail.app.mining import MomentList as MomentList
    from handrail.app.mining import iter_mined as iter_mined
    from handrail.app.mining import moments as moments
    from handrail.app.notifying import Webhooks as Webhooks
    from handrail.app.opening import Opened as Opened
    from handrail.app.opening import Source as Source
    from handrail.app.opening import open_session as open_session
    from handrail.app.ordering import Order as Order
    from handrail.app.repairing import Repaired as Repaired
    from handrail.app.repairing import repair as repair
    from handrail.app.replaying import Replayed as Replayed
    from handrail.app.replaying import ReplayOrder as ReplayOrder
    from handrail.app.replaying import replay as replay
    from handrail.app.run_events import RunBegan as RunBegan
    from handrail.app.run_events import RunEvent as RunEvent
    from handrail.app.run_events import RunFinished as RunFinished
    from handrail.app.run_events import RunHappened as RunHappened
    from handrail.app.run_events import RunStreamed as RunStreamed
    from handrail.app.run_events import run_event as run_event
    from handrail.app.run_events import run_finished as run_finished
    from handrail.app.running import ELSEWHERE as ELSEWHERE
    from handrail.app.running import NOBODY as NOBODY
    from handrail.app.running import People as People
    from handrail.app.running import Running as Running
    from handrail.app.running import require_extra as require_extra
    from handrail.app.running import start_run as start_run
    from handrail.app.running import was_sent_more as was_sent_more
    from handrail.app.sampling import Demo as Demo
    from handrail.app.sampling import demo as demo
    from handrail.app.serving import Served as Served
    from handrail.app.serving import Server as Server
    from handrail.app.showing import BranchNote as BranchNote
    from handrail.app.showing import Shown as Shown
    from handrail.app.showing import show as show
    from handrail.app.standing import AskFilter as AskFilter
    from handrail.app.standing import AskList as AskList
    from handrail.app.standing import Driven as Driven
    from handrail.app.standing import RunList as RunList
    from handrail.app.standing import StandingAsk as StandingAsk
    from handrail.app.standing import StandingRun as StandingRun
    from handrail.app.standing import list_asks as list_asks
    from handrail.app.standing import list_runs as list_runs
    from handrail.app.standing import waiting as waiting
    from handrail.app.surveying import HarnessRow as HarnessRow
    from handrail.app.surveying import Overview as Overview
    from handrail.app.surveying import overview as overview
    from handrail.app.tallying import Figures as Figures
    from handrail.app.tallying import Group as Group
    from handrail.app.tallying import Stats as Stats
    from handrail.app.tallying import stats as stats
    from handrail.app.watching import WatchBegan as WatchBegan
    from handrail.app.watching import Watched as Watched
    from handrail.app.watching import WatchEnded as WatchEnded
    from handrail.app.watching import WatchEvent as WatchEvent
    from handrail.app.watching import watch as watch
    from handrail.app.working import Worker as Worker
    from handrail.app.writing import Draft as Draft
    from handrail.app.writing import Written as Written
    from handrail.app.writing import convert as convert
    from handrail.app.writing import crop as crop
    from handrail.app.writing import export as export
    from handrail.app.writing import save as save

_HOMES = {
    "answering": "Answered answer decline find_ask",
    "contexts": "Context context_of",
    "controlling": "Sent Wish send",
    "detaching": "Detached detach",
    "forking": "Forked fork",
    "journals": "drafts_folder",
    "serving": "Served Server",
    "working": "Worker",
    "standing": "AskFilter AskList Driven RunList StandingAsk StandingRun list_asks list_runs waiting",
    "watching": "WatchBegan WatchEnded WatchEvent Watched watch",
    "blueprinting": (
        "BlueprintDrawing BlueprintList BlueprintNotFound BlueprintReport BlueprintRow CheckedBlueprint "
        "blueprint_schema check_blueprints draw_blueprint list_blueprints load_blueprint spell_blueprint"
    ),
    "counting": "DamagedSession MomentRow MomentSummary",
    "diagnosing": "Checkup Complaint DoctorReport doctor",
    "following": "FollowEvent FollowNotice FollowOptions FollowedMessage FollowedMoment FollowedSession follow",
    "listing": "SessionFilter SessionList SessionRow list_sessions",
    "judging": "with_judge",
    "machine": "Judging Machine open_machine",
    "marking": "Marked load_corrections mark",
    "mining": "MomentFilter MomentList iter_mined moments",
    "opening": "Opened Source open_session",
    "repairing": "Repaired repair",
    "replaying": "ReplayOrder Replayed replay",
    "run_events": "RunBegan RunEvent RunFinished RunHappened RunStreamed run_event run_finished",
    "notifying": "Webhooks",
    "ordering": "Order",
    "running": "ELSEWHERE NOBODY People Running require_extra start_run was_sent_more",
    "sampling": "Demo demo",
    "showing": "BranchNote Shown show",
    "surveying": "HarnessRow Overview overview",
    "tallying": "Figures Group Stats stats",
    "writing": "Draft Written convert crop export save",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    return load(__name__, _HOME_OF, name)
