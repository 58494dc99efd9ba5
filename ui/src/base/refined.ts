/**
 * Asking in two steps: for what is there soon, and then, unless somebody has gone on, for what is exact.
 *
 * What is exact may take seconds. It is asked for beside what is wanted next, so that nobody waits for it.
 */
import { Latest } from "./latest.ts";

export class Refined<Question, Answer> {
  private readonly better: (answer: Answer, question: Question) => Question | null;
  private readonly done: (answer: Answer, isLast: boolean) => void;
  private readonly soon: Latest<Question, Answer>;
  private readonly exact: Latest<Question, Answer | null>;
  private wanted: Question | null = null;

  /**
   * `better` says what is to be asked when an answer is not good enough, `null` if it is; `done` is told whether an answer is
   * the last to what is wanted now.
   */
  constructor(
    ask: (question: Question) => Promise<Answer>,
    better: (answer: Answer, question: Question) => Question | null,
    done: (answer: Answer, isLast: boolean) => void,
    failed: (error: unknown) => void,
  ) {
    this.better = better;
    this.done = done;
    const lost = (error: unknown): void => {
      // It was not answered, so who wants it again asks again.
      this.wanted = null;
      failed(error);
    };
    this.soon = new Latest(ask, (answer, question) => this.answered(answer, question), lost);
    this.exact = new Latest(
      // Who has gone on meanwhile does not want it any more.
      async (question) => (question === this.wanted ? ask(question) : null),
      (answer, question) => {
        if (answer !== null && question === this.wanted) this.answered(answer, question);
      },
      lost,
    );
  }

  /** What is wanted now; `null` = nothing, or it could not be had. */
  get asked(): Question | null {
    return this.wanted;
  }

  want(question: Question): void {
    this.wanted = question;
    this.soon.want(question);
  }

  private answered(answer: Answer, question: Question): void {
    const isWanted = question === this.wanted;
    const next = isWanted ? this.better(answer, question) : null;
    this.done(answer, isWanted && next === null);
    if (next === null) return;
    this.wanted = next;
    this.exact.want(next);
  }
}
