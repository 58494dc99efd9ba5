/** What the views of sources are for, what their numbers mean, and what can be done there. */
import type { JSX } from "preact";

export function OfSource(): JSX.Element {
  return (
    <>
      <p>
        The program's sources, each line with what it cost. The green bar is <em>processor time</em> by samples: light with all that the
        line calls, dark its own. The amber bar is time in <em>calls</em> of libraries that were measured (MPI, threads, files), dark what of
        it was waiting. A full bar is the most of the file; bars can also be of loops and of functions, and stand where these begin then.
        Blue strips say in how many loops a line lies.
      </p>
      <p>
        Beside the text stands the whole file: functions are green, loops blue, the darker the more processor time they have; press it to go
        there. The pane at the right tells all about the line: what it calls, what is done in parallel there, and the loops around it with
        what was called from within each. Press an underlined name, or Enter, to go to that function. A region that is chosen in any view
        leads here to its line, or to where it is called most, and lines that call it have an amber mark.
      </p>
      <p>
        In coarray Fortran, references to elements that <em>another image</em> has (<code>u(i)[p]</code>) stand on amber. For the line, or the loop, the pane
        says under <em>Across processes</em> which array, how often and how long, between which ranks data goes, which loop moves from
        element to element, and where the elements are written or read before and after; arrows beside the text lead from there to there,
        dashed ones to a later iteration. What the text does not decide is told as a dependence that may be.
      </p>
      <p>
        The text is there if the run was recorded with <code>--embed-sources</code>. Lines are those of debug information (<code>-g</code>
        ): where compilers have fused or moved code, a line has what they say is its.
      </p>
      <p>
        <em>Machine code</em> puts what the processor did beside the text: address, line and instruction, with the processor time of samples
        that were taken there. A sample stands at the instruction that came next, so what takes long is often the one before it. Instructions
        of the line are marked; press one, or go to it by arrow keys, and its line is chosen. <kbd>n</kbd> and <kbd>N</kbd> go to the next and
        the previous instruction of the line. Where a line was put into several functions, the list above says which is shown. The code is
        there if the run was recorded with <code>--embed-code</code>; exported pages and redacted copies never have it.
      </p>
    </>
  );
}

export function OfFiles(): JSX.Element {
  return (
    <p>
      Files of the program with their types (T), functions (ƒ) and methods, each with the processor time that was spent in it and in what it
      called. Press one and its source stands at the right, its head and body in blue, and callees and types underlined: press such a name to go
      there. Files of the system and of libraries are left out.
    </p>
  );
}

export function OfCalls(): JSX.Element {
  return (
    <>
      <p>
        Who calls whom. At first only functions that no other calls are there; open a row and those that it calls appear, what took longest
        first. A solid line before a name: binary or text tell of the call, and it was seen; dashed: it was only seen, as where it leads
        through an address; dotted: it is only told. <em>‖</em> leads to something that is done in parallel or with others, <em>…</em> has
        callees that are not shown.
      </p>
      <p>
        Times are those when this caller called the function: green processor time, amber calls of libraries with what was waited. Keys: arrows,
        Enter for the source, h hides a row, s shows what was hidden beneath one. All rows of the chosen function are marked.
      </p>
    </>
  );
}

export function OfTypes(): JSX.Element {
  return (
    <p>
      Types that others are derived from stand at the left, what is derived from them to the right, beneath each of its bases. <em>Virtual</em>{" "}
      bases are shared by all that are derived. The table has the members of the chosen type; press one to go to its line.
    </p>
  );
}
