/** Wires everything: opens the run, follows the address, shows the page. */
import { render, type JSX } from "preact";

import { followEvents } from "./state/events.ts";
import { followExplained } from "./state/explained.ts";
import { followMessage } from "./state/message.ts";
import { followOperation } from "./state/operation.ts";
import { followClocks } from "./state/clock.ts";
import { followPicked } from "./state/instances.ts";
import { lost } from "./state/reach.ts";
import { failure, open, run, unpacked } from "./state/run.ts";
import { followOpening, isListed, LIST, opening, readRuns } from "./state/runs.ts";
import "./state/settings.ts";
import { remember } from "./state/history.ts";
import { tables } from "./state/tables.ts";
import { connect } from "./state/url.ts";
import { beside, hasSide, isAlone, SOURCE_VIEWS, view, VIEWS, type ViewName } from "./state/view.ts";
import { followVisit } from "./state/visit.ts";
import { joinWindows } from "./state/windows.ts";
import "./style/tokens.css";
import "./style/base.css";
import { Communication } from "./views/communication/view.tsx";
import { Compare } from "./views/compare/view.tsx";
import "./views/frame/frame.css";
import { VIEW_HELP, VIEW_NAMES } from "./views/frame/commands.ts";
import { Header } from "./views/frame/header.tsx";
import { listenToKeys } from "./views/frame/keys.ts";
import { Side } from "./views/frame/side.tsx";
import { Status } from "./views/frame/status.tsx";
import { Help } from "./views/help/view.tsx";
import { Lost } from "./views/lost.tsx";
import { Data } from "./views/data/view.tsx";
import { HistogramView } from "./views/histogram/view.tsx";
import { Levels } from "./views/levels/view.tsx";
import { Next } from "./views/next/view.tsx";
import { Overview } from "./views/overview/view.tsx";
import { Profile } from "./views/profile/view.tsx";
import { CallGraph } from "./views/source/calls.tsx";
import { Files } from "./views/source/files.tsx";
import { Types } from "./views/source/types.tsx";
import { Source } from "./views/source/view.tsx";
import { Runs } from "./views/runs/view.tsx";
import { StatesWindow } from "./views/states/view.tsx";
import { Timeline } from "./views/timeline/view.tsx";
import { Utilisation } from "./views/utilisation/view.tsx";
import { Waits } from "./views/waits/view.tsx";
import { TableKeeper } from "./widgets/table.tsx";

const PAGES: Readonly<Record<ViewName, () => JSX.Element | null>> = {
  overview: Overview,
  timeline: Timeline,
  profile: Profile,
  histogram: HistogramView,
  communication: Communication,
  waits: Waits,
  utilisation: Utilisation,
  compare: Compare,
  source: Source,
  levels: Levels,
  data: Data,
  files: Files,
  calls: CallGraph,
  types: Types,
  next: Next,
  help: Help,
  states: StatesWindow,
};

function Page(): JSX.Element {
  const second = beside.value === view.value ? null : beside.value;
  const layout = ["page", hasSide.value ? "" : "page-wide", isAlone.value ? "page-alone" : ""].join(" ");
  return (
    <div class={layout}>
      <Header />
      {isAlone.value ? null : (
        <nav class="nav" aria-label="Views">
          {VIEWS.map((name) => (
            <button type="button" aria-current={isShown(name) ? "page" : undefined} title={VIEW_HELP[name]} onClick={() => (view.value = name)}>
              {VIEW_NAMES[name]}
              {name === "help" ? <kbd>?</kbd> : null}
            </button>
          ))}
        </nav>
      )}
      <main class={second === null ? "main" : "main main-split"}>
        <Pane name={view.value} />
        {second === null ? null : <Pane name={second} isSecond />}
      </main>
      {hasSide.value ? <Side /> : null}
      <Status />
      <Lost />
      {failure.value === null || lost.value !== null ? null : (
        <div class="failure" role="alert">
          <span>{failure.value}</span>
          <button type="button" onClick={() => (failure.value = null)}>
            Close
          </button>
        </div>
      )}
    </div>
  );
}

/** Whether a view is shown, or one that it stands for. */
function isShown(name: ViewName): boolean {
  return view.value === name || (name === "source" && SOURCE_VIEWS.some((it) => it === view.value));
}

/** A view in its place. */
function Pane({ name, isSecond }: { readonly name: ViewName; readonly isSecond?: boolean }): JSX.Element {
  const Shown = PAGES[name];
  return (
    <section class="pane" aria-label={VIEW_NAMES[name]} data-topic={name}>
      {run.value === null ? <Opening /> : <Shown />}
      {isSecond === true ? (
        <button type="button" class="pane-close" onClick={() => (beside.value = null)} aria-label={`Close ${VIEW_NAMES[name]}`} title="Close the view beside">
          ×
        </button>
      ) : null}
    </section>
  );
}

/** How far it is. */
function Opening(): JSX.Element {
  const share = unpacked.value;
  const step = opening.value;
  if (failure.value !== null || lost.value !== null) {
    return (
      <p class="hush">
        The run could not be opened. {isListed ? <a href={LIST}>All runs</a> : null}
      </p>
    );
  }
  if (step !== null) {
    return (
      <p class="hush">
        The run is being opened: <progress value={step.done} max={step.of} aria-label="Opened" /> {step.what}
      </p>
    );
  }
  return <p class="hush">{share > 0 && share < 1 ? `The run is being unpacked: ${Math.floor(share * 100)} %` : "The run is being opened …"}</p>;
}

async function start(page: HTMLElement): Promise<void> {
  const hasList = await readRuns();
  // What an exported page says until its scripts are there.
  page.replaceChildren();
  if (hasList) {
    render(<Runs />, page);
    document.title = "Runs · marey";
    return;
  }
  if (lost.value !== null && !isListed) {
    // Which page it would have been nobody says.
    render(<Lost />, page);
    return;
  }
  render(
    <TableKeeper.Provider value={tables}>
      <Page />
    </TableKeeper.Provider>,
    page,
  );
  listenToKeys();
  void open();
  followOpening();
  const stop = run.subscribe((head) => {
    if (head === null) return;
    queueMicrotask(() => stop());
    // Who opens two runs wants to compare them; the address may say otherwise.
    if (head.other !== null) view.value = "compare";
    connect();
    remember();
    joinWindows();
    followVisit();
    followClocks();
    followOperation();
    followMessage();
    followEvents();
    followExplained();
    followPicked();
  });
}

const page = document.getElementById("page");
if (page !== null) void start(page);
