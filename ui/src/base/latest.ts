/**
 * Asking for what is needed now: one question is under way at a time, and of those that come meanwhile only the latest
 * is asked next. Older ones would be answered when nobody wants them any more.
 */
export class Latest<Question, Answer> {
  private readonly ask: (question: Question) => Promise<Answer>;
  private readonly done: (answer: Answer, question: Question) => void;
  private readonly failed: (error: unknown) => void;
  private isBusy = false;
  private now: Promise<void> = Promise.resolve();
  private next: { readonly question: Question } | null = null;

  constructor(
    ask: (question: Question) => Promise<Answer>,
    done: (answer: Answer, question: Question) => void,
    failed: (error: unknown) => void,
  ) {
    this.ask = ask;
    this.done = done;
    this.failed = failed;
  }

  want(question: Question): void {
    this.next = { question };
    if (!this.isBusy) this.now = this.run();
  }

  /** When all that was wanted has been answered. */
  answered(): Promise<void> {
    return this.now;
  }

  private async run(): Promise<void> {
    this.isBusy = true;
    while (this.next !== null) {
      const { question } = this.next;
      this.next = null;
      try {
        this.done(await this.ask(question), question);
      } catch (error) {
        this.failed(error);
      }
    }
    this.isBusy = false;
  }
}
