/** What the timeline draws, and what the pointer does there. */
import type { JSX } from "preact";

export function OfTimeline(): JSX.Element {
  return (
    <>
      <p>The wheel zooms, sideways it moves; over the names it scrolls the rows.</p>
      <p>Drag to move; drag the name of a row to move the clock of its process by hand: it is written down when you say so, and can be undone. Drag in the ruler, or with Shift anywhere, to zoom to a span. Press a visit to see all about it.</p>
      <p>
        A row is a thread. Its lines are what was recorded on it, level by level: what encloses stands above what is
        inside. Where visits are shorter than a pixel, a column shows how much of that time each region took, so that
        heights are shares. What is pale is time outside of all recorded calls: the program's own code, if nothing else
        was recorded of it.
      </p>
      <p>
        Greens are the program's own work, blues point-to-point messages, violets operations of all, browns files, greys
        setting up. Amber is waiting that was explained: for whom, the details say. Press the colour of a state in the list
        to give it another, which it then has in all views and in the address; ↺ gives it its own again. The list can be torn
        off into a window of its own, where it can be filtered; what is unticked or coloured there is so in all windows.
      </p>
      <p>
        Violet shapes are operations of all: the left edge leads from where one member entered to where the next one did, the
        right edge along where they left. An arrow stands where the last one came. Press a shape beside the visits, or its arrow,
        to see who took part and how long each waited; the details of a member's visit lead there, too. Where there are too
        many, those of about the same time are one shape with their number.
      </p>
      <p>
        Lines from row to row are messages. Press one, within a few pixels, to see who sent it to whom, when, how much and in
        which calls; <kbd>[</kbd> and <kbd>]</kbd> go to the one before and the next between the same two. The details of a visit and the list in
        Communication lead there, too. Where many lines cross a bar, the bar is meant: zoom in to press one of them. A line with
        a number is so many messages: press it to learn how to see them one by one.
      </p>
      <p>
        Table shows the same in numbers, of the span that is seen: rows, lines from row to row, the critical path, mountains, and
        the whole run.
      </p>
      <p>
        Above the rows stand findings (round, with the number of their card), situations (square: arrows for a pace that
        changes, a bin for too little or too much to do, a letter for messages that pile up, a clock for a long time from
        one message to the next), and beneath them, as small triangles, the visits that lasted longest beyond their like. Press one to see its span and
        whom it is about; rest on it to read it. Where there is no room, several are one with their number, which zooms.
      </p>
      <p>
        In a run on several hosts rows stand beneath the names of these. Press a name to close its rows: a strip takes their
        place, which tells how many of the host's locations are in which state, and messages lead to it. Press the strip to
        have them back; h closes all hosts or opens them, and the menu Rows has a list. Press the name of a rank that has
        several threads to fold these.
      </p>
      <p>
        States that a program begins and ends without nesting them stand beneath the rows, each in a lane in which none
        overlaps another. Bars of half the height are several that are too short to be seen. Rest on one to read it, press it
        to choose its region; the menu Show switches them off.
      </p>
      <p>
        Small signs at the upper edge of a row are instants that the program marked, a shape and a colour for each kind; a
        double one is several that have no room side by side. Press one to read what the program said. What it said of a visit
        stands among the visit's details.
      </p>
      <p>
        Counters are chosen under Show and stand beneath the rows, on the same scale in all of them: the line is the mean by
        time, the band goes from the least to the most. Of those that only grow, such as page faults, it is how fast they do.
        What a counter is at the pointer stands beside its line.
      </p>
      <p>
        States that are unticked are not drawn, nor are lines of levels that are switched off. Of a bucket that more than
        three regions share, the smallest stand together in grey; if something is hidden that may be among them, the
        timeline says so.
      </p>
    </>
  );
}

export function OfCompare(): JSX.Element {
  return (
    <>
      <p>
        <code>marey view A.marey B.marey</code> opens two runs. All views show A, the base; Compare shows both, with the
        same rows and the same colours for what has the same name, and moves both together. They begin at the same
        place, or an iteration of their main loops does: press a bar beneath them, or go from one to the next with{" "}
        <kbd>,</kbd> and <kbd>.</kbd>; 0 is where it begins then.
      </p>
      <p>
        Beneath both timelines stands what they differ in, step by step: of the rows of each run the share that is in calls, or in
        what is chosen there. What B has more of stands above the line in orange, what it has less of beneath in blue; where one
        of the runs is alone it is grey. So runs can be compared in which nothing repeats. Rows of several hosts stand beneath
        the names of these, as in the timeline; a host that is closed is closed in both.
      </p>
      <p>
        A bar is as high as the iteration is long: grey is what both took, orange (+) what B took longer, blue (−) what it
        took less; the line goes along A. Orange and blue say in all tables what B has more of and less of, not what is
        better. What is pressed in a table is chosen in both runs and in all views.
      </p>
    </>
  );
}
