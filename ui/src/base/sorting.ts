/** How a table stands: by which column, which way, and which rows. Who keeps that knows no table, and tables know not where it is kept. */

export interface Sorting {
  /** Name of the column. */
  readonly column: string;
  readonly isUp: boolean;
}

/** Keeps how tables stand, by their labels. */
export interface Keeper {
  /** `null` = as at first. */
  sorting(label: string): Sorting | null;
  sort(label: string, next: Sorting | null): void;
  /** Words that rows must have; empty = all rows. */
  filter(label: string): string;
  setFilter(label: string, words: string): void;
}
