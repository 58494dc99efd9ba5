/**
 * What is wrong with the server as a whole, and not with one question.
 *
 * The one idea: whoever asks is told by the kind of the error, so that the page says it once, however many questions wait.
 */

/** It cannot be reached; it does not know this browser; what was asked about is another run now, or none. */
export type Loss = "away" | "refused" | "replaced";

export class LostError extends Error {
  readonly loss: Loss;

  constructor(loss: Loss, why: string) {
    super(why);
    this.loss = loss;
  }
}

/** What an answer says about the server; `null` = nothing. */
export function lossOf(status: number): Loss | null {
  return status === 401 ? "refused" : status === 410 ? "replaced" : null;
}
