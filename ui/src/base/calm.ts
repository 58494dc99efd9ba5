/**
 * Something that is done after changes, not with each of them: at once after a pause, then when changes have ended, and now
 * and then while they go on. What takes as long as a picture must not be done with every picture.
 *
 * The one idea: one timer, which looks when it rings whether it is time; to set one anew with each change takes longer.
 */
/** Changes that go on follow each other with every picture or two; after so long without one they have ended, ms. */
const ENDED = 40;

export class Calm {
  private readonly act: () => void;
  /** At least so long between two times, and at most so long while changes go on, ms. */
  private readonly pause: number;
  private readonly latest: number;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private first = 0;
  private last = 0;
  private actedAt = -Infinity;

  constructor(act: () => void, pause: number, latest: number) {
    [this.act, this.pause, this.latest] = [act, pause, latest];
  }

  changed(): void {
    const now = performance.now();
    this.last = now;
    if (this.timer !== null) return;
    this.first = now;
    // Whatever it reads is not what whoever tells of the change depends on.
    if (now - this.actedAt >= this.pause) {
      this.actedAt = now;
      queueMicrotask(this.act);
    } else this.wait(this.left(now));
  }

  end(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private wait(time: number): void {
    this.timer = setTimeout(() => this.rung(), time);
  }

  /** How long it is not yet time, ms. */
  private left(now: number): number {
    return Math.min(Math.max(this.last + ENDED, this.actedAt + this.pause), this.first + this.latest) - now;
  }

  private rung(): void {
    this.timer = null;
    const now = performance.now();
    const left = this.left(now);
    // Timers may ring a little too soon.
    if (left > 1) {
      this.wait(left);
      return;
    }
    this.actedAt = now;
    this.act();
  }
}
