/** What Levels and Data show, what their numbers mean, and what can be done there. */
import type { JSX } from "preact";

export function OfLevels(): JSX.Element {
  return (
    <>
      <p>
        Everything measured is a <em>sentence</em>: a verb done to a noun on a level of abstraction, at a cost. The three lists have the levels, verbs and nouns that there are, each under what is
        chosen in the other two; press one to ask for it. <em>Visits</em> are all that fit, the <em>time</em> is that of the outermost with all that lies beneath, so nothing counts twice.
      </p>
      <p>
        What stands behind <em>Under</em> must be around it: a sentence, or a function of the program. <em>Look beneath</em> peels a layer back: it asks what was done beneath the sentence that is chosen, on
        whatever level. <em>Made of</em> says what the time went to: <em>explicit</em> is the sentence itself, and what serves it by doing the same, such as the transfers of MPI beneath a get of a
        coarray; all else is <em>implicit</em>: it keeps what the sentence means, such as the lock around a transfer. The parts add up to the whole.
      </p>
      <p>
        By line a row leads to the source, by rank it chooses the rank in all views. The bars have the axis of the timeline; one that is pressed is looked at there, too. Beneath stands the same as a command,{" "}
        <code>marey sentence</code>.
      </p>
    </>
  );
}

export function OfData(): JSX.Element {
  return (
    <>
      <p>
        <em>Arrays</em> are those of the language, such as coarrays: how often their elements were accessed through it, <em>local</em> with the process itself or <em>remote</em> with others, and what that took. Calls
        <em> beneath</em> are those of lower levels that moved data for them. What is made piece by piece, where one access for many would do, is said above the table with what to do.
      </p>
      <p>
        Of the array that is chosen stand beneath: the lines that act on it, with the calls that served them; what each process has of it, as a box as wide as that is large, filled by how much others refer to it; and a
        picture of its elements, the darker the more often they were referred to. Arrows lead from cell to cell. Dimensions can be chosen, or the process that has the elements.
      </p>
      <p>
        Draw across cells, or go with shift and the arrows, to <em>select</em> a part of the array: beneath stand the statements and processes that access its elements, how many of the elements that they mean are
        selected, and who has them. An access counts as a whole if it means one of them. Where processes have bounds of their own the selection <em>snaps</em>: it takes whole parts that it meets, or
        leaves out those that it does not hold. Escape drops it. <code>marey arrays --section</code> says the same.
      </p>
      <p>
        <em>Messages</em> come from and go to data: a variable, a block of the heap by the pointer that held its address or by who allocated it, part of a stack's frame. What is not known is a row, too, and says why.
      </p>
    </>
  );
}
