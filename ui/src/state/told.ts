/**
 * The span as words tell it. While it is moved they follow some times a second: nobody reads faster, and every word that
 * changes makes the browser lay out the page anew, in the time of a picture.
 */
import { computed, effect, signal } from "@preact/signals";

import { Calm } from "../base/calm.ts";
import { length, type Span } from "../base/time.ts";
import { span } from "./view.ts";

/** Between two tellings, ms. */
const PAUSE = 200;

const told = signal<Span>(span.peek());
const calm = new Calm(() => (told.value = span.peek()), PAUSE, PAUSE);

effect(() => {
  void span.value;
  calm.changed();
});

/** The span that is shown, or was a moment ago. */
export const toldSpan = computed<Span>(() => told.value);
/** How long the span is that is shown; moving does not change it. */
export const spanLength = computed(() => length(span.value));
