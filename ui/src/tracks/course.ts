/** A mountain range: how many locations are in which region, in the course of time. */
import type { Ground } from "../canvas/ink.ts";
import { pixel, type Palette } from "../canvas/palette.ts";
import { pxFromTime, type Scale } from "../canvas/scale.ts";
import type { Frame } from "../wire/columns.ts";
import type { CourseHead } from "../wire/generated.ts";

export interface Course {
  readonly head: CourseHead;
  readonly region: Uint32Array;
  readonly busy: Float64Array;
}

export function courseOf(frame: Frame<CourseHead>): Course {
  return { head: frame.head, region: frame.u32("region"), busy: frame.f64("busy") };
}

export interface CourseLook {
  readonly scale: Scale;
  /** CSS pixels. */
  readonly top: number;
  readonly bottom: number;
  readonly ratio: number;
  readonly colours: Palette;
  /** Pixel of each region. */
  readonly pixels: Uint32Array;
  readonly hidden: ReadonlySet<number>;
}

/** Draws what is seen, column by column of whole pixels: edges would shine through between neighbours. */
export function drawCourse(ground: Ground, course: Course, look: CourseLook): void {
  const { from_ns: from, bucket_ns: bucket, buckets, locations } = course.head;
  const { scale, ratio } = look;
  const [bottom, height] = [look.bottom * ratio, (look.bottom - look.top) * ratio];
  const end = scale.span.to + bucket;
  const first = Math.max(Math.floor((scale.span.from - from) / bucket) - 1, 0);
  const behind = Math.min(Math.ceil((end - from) / bucket) + 1, buckets);
  const rest = pixel(look.colours.faint);
  const series = course.region.length + 1;
  for (let number = first; number < behind; number += 1) {
    const left = Math.round(pxFromTime(scale, from + number * bucket) * ratio);
    const right = Math.round(pxFromTime(scale, from + (number + 1) * bucket) * ratio);
    if (right === left && number + 1 < buckets) continue;
    let sum = 0;
    let below = Math.round(bottom);
    for (let place = 0; place < series; place += 1) {
      const region = course.region[place];
      if (region !== undefined && look.hidden.has(region)) continue;
      const share = (course.busy[place * buckets + number] ?? 0) / Math.max(locations, 1);
      if (share <= 0) continue;
      sum += share;
      const above = Math.round(bottom - sum * height);
      ground.fill(left, Math.max(right, left + 1), above, below, region === undefined ? rest : (look.pixels[region] ?? rest));
      below = above;
    }
  }
}
