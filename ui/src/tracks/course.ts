/** A mountain range: how many locations are in which region, in the course of time. */
import type { Ink } from "../canvas/ink.ts";
import type { Palette } from "../canvas/palette.ts";
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
  readonly top: number;
  readonly bottom: number;
  readonly colours: Palette;
  readonly colourOf: (region: number) => string;
  readonly hidden: ReadonlySet<number>;
}

export function drawCourse(canvas: Ink, course: Course, look: CourseLook): void {
  const { from_ns: from, bucket_ns: bucket, buckets, locations } = course.head;
  const height = look.bottom - look.top;
  const floor = new Float64Array(buckets);
  const series = course.region.length + 1;
  for (let place = 0; place < series; place += 1) {
    const region = course.region[place];
    if (region !== undefined && look.hidden.has(region)) continue;
    canvas.fillStyle = region === undefined ? look.colours.faint : look.colourOf(region);
    for (let number = 0; number < buckets; number += 1) {
      const share = (course.busy[place * buckets + number] ?? 0) / Math.max(locations, 1);
      if (share <= 0) continue;
      // Whole pixels, or edges would shine through between neighbours.
      const left = Math.round(pxFromTime(look.scale, from + number * bucket));
      const right = Math.round(pxFromTime(look.scale, from + (number + 1) * bucket));
      if (right === left && number + 1 < buckets) continue;
      if (right < look.scale.left || left > look.scale.left + look.scale.width) continue;
      const below = look.bottom - (floor[number] ?? 0) * height;
      canvas.fillRect(left, below - share * height, Math.max(right - left, 1), share * height);
      floor[number] = (floor[number] ?? 0) + share;
    }
  }
}
