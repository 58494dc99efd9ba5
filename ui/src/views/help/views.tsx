/** What each view is for, what its numbers mean, and what can be done there; but for timelines. */
import type { JSX } from "preact";

export function OfOverview(): JSX.Element {
  return (
    <>
      <p>
        The run in short. <em>Findings</em> say what others waited for, and how much there is to win at most, in time of the run;
        a card that is pressed sets span, ranks and region in all views. <em>Efficiencies</em> are shares of one, each the
        product of those beneath it: the useful time of all processes, of the time that they had.
      </p>
      <p>
        <em>Time per rank</em> is cut into the levels of the program and of the libraries that were recorded, each with the time that was
        spent in it and not in a level beneath. Press a rank to see it alone everywhere, a level to have it in the timeline.{" "}
        <em>Problems</em> are all that was lost, unmatched or out of order: if there are none, nothing is missing.
      </p>
    </>
  );
}

export function OfProfile(): JSX.Element {
  return (
    <>
      <p>
        How much time went where. <em>Inclusive</em> is the time from entering a region to leaving it, <em>exclusive</em> that
        time without what was recorded inside; both are sums over all visits and locations, so that they can be longer than the
        run. <em>Waiting</em> is the part of it that was spent waiting for others.
      </p>
      <p>
        The <em>call tree</em> has the functions of the program and the regions: open a row with the arrow keys or its sign, and the
        way that took most time with *. <em>Bottom-up</em> begins with what took time of its own, and beneath it stands who called
        it. What functions computed outside of regions is known from samples, if there are some.
      </p>
      <p>
        <em>By location</em> draws a bar for each thread, a piece for each region, with the mean and those with most and least
        above; press a name for the profile of that thread, a piece to choose its region everywhere. Boxes of the{" "}
        <em>flame graph</em> are as wide as their inclusive time. Strips have a cell for each thread, the darker
        the more of the region's time it has. Press the heading of a column to sort by it.
      </p>
    </>
  );
}

export function OfHistogram(): JSX.Element {
  return (
    <>
      <p>
        How the visits of the chosen region differ in length (ns to s) or in size (bytes): each bar is a number of visits. Other
        regions are switched on beside it, and stand above each other in the same bins, in their colours. Drag over bars to pick
        the visits of a range, of all regions that are on. The percentages pick what one of two tests finds: <em>Jumpshot's test</em>{" "}
        takes the visits of each region to be normally distributed, and picks those beyond where that part of them would be on
        either side; the <em>robust test</em> compares each visit with its like. What was picked stands in a list, and blinks in the
        timeline.
      </p>
      <p>Where all visits are alike the robust test picks none.</p>
    </>
  );
}

export function OfCommunication(): JSX.Element {
  return (
    <>
      <p>
        Messages from one process to another. In the matrix rows send and columns receive; a cell is the darker the more it is, on a
        logarithmic scale. <em>Data</em> is what the messages held, in bytes; a message of which only one end was recorded is
        not in a pair. Press a cell to limit what stands beside and beneath it, and what the timeline draws, to its two processes.
      </p>
      <p>Operations of all move data in ways that are theirs; they have sums of their own.</p>
    </>
  );
}

export function OfWaits(): JSX.Element {
  return (
    <>
      <p>
        Why time was lost. A <em>wait</em> is time in a call that could not go on because somebody else was late; a{" "}
        <em>delay</em> is what that one did meanwhile, with the costs of all waits that it led to. The <em>critical path</em> is
        the chain of work that made the run as long as it was: only what is on it makes the run shorter.
      </p>
      <p>
        The three panes have what was waited for, in which calls, and by whom; whatever is chosen in one limits the other two and
        the timeline. Times are sums over all ranks, of the whole run or of the span that is shown: of what lies across its ends the
        part inside counts, and who caused a wait of the span is looked for in the span.
      </p>
    </>
  );
}

export function OfUtilisation(): JSX.Element {
  return (
    <p>
      What each thread did from the start of the run up to an instant, that of the slider: busy (green), waiting (amber), and not yet or no
      longer there (pale), as shares of that time. Beside it stand messages that were on their way to it and from it at that instant.
    </p>
  );
}

export function OfNext(): JSX.Element {
  return (
    <p>
      How much the next run is to record of which regions: nothing, how often, also how long, or each visit by itself. The cost of a region
      is what recording its visits took in this run, about: two events a visit, at the mean cost of an event. What is chosen makes the rules
      of a filter file, to be saved and given to <code>marey record --filter</code>; it is in the address, and nothing changes in this run.
      A server that was started with <code>--allow-run</code> has a button that records the run again and opens both side by side; it shows
      what would be run, and asks.
    </p>
  );
}

export function OfStates(): JSX.Element {
  return (
    <p>
      The regions of the span that is shown, those with most time first. Untick one and it is not drawn; press its name and it is chosen in
      all views; press its colour for another. Time and share are of the locations that are shown; what is nested counts on each of
      its lines.
    </p>
  );
}

export function OfStatus(): JSX.Element {
  return (
    <p>
      The lowest line says how far the run is to be trusted: by how much the clocks of processes may be wrong against each other, how
      much time measuring added, and how many problems there were. Behind that stands what is under the pointer or has the focus.
    </p>
  );
}

export function OfTop(): JSX.Element {
  return (
    <p>
      The top line names the run and the span that is shown. What is chosen stands there as a chip, which is pressed to choose it no
      longer. The field finds regions, ranks, hosts, findings, views, and
      everything that can be done, with its key (↓ lists it); the menu <em>View</em> puts a second view beside the
      first, tears it off into a window of its own, saves it, or prints it.
    </p>
  );
}

export function OfSide(): JSX.Element {
  return (
    <p>
      The right side has the findings, everything about what was chosen in the timeline, and the states that are seen. Names in it are
      links: to the other end of a message, to who was waited for, to the call around, to all visits of a region.
    </p>
  );
}
