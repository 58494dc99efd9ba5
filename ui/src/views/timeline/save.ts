/** The timeline as a file: the same drawing, in lines instead of pixels. */
import { instant } from "../../base/time.ts";
import { Vector } from "../../canvas/vector.ts";
import { run } from "../../state/run.ts";
import { drawScene, groundSize, GUTTER, MARGIN, RULER } from "./draw.ts";
import { bakedScene } from "./moved.ts";
import { layout, plotWidth, room } from "./place.ts";
import { sceneNow } from "./scene.ts";
import { drawMountains } from "./strips.tsx";

const MOUNTAINS = 92;

/** What is seen, as SVG. */
export function timelineSvg(): string {
  const now = sceneNow();
  if (now === null) throw new Error("the run is not open yet");
  const scene = bakedScene(now);
  const width = GUTTER + plotWidth.peek() + MARGIN;
  const height = RULER + Math.min(layout.peek().height, room.peek()) + 4;
  const vector = new Vector();
  const ground = vector.ground(GUTTER, RULER, ...groundSize(scene.scale, height, 1));
  const finish = (): void => ground.finish();
  drawScene({ ink: vector, width, height, ratio: 1, ground, layer: finish, lay: finish }, { ...scene, moved: null, marked: null, isStale: false });
  vector.save();
  vector.translate(0, height);
  const range = vector.ground(GUTTER, 0, Math.round(scene.scale.width), MOUNTAINS);
  drawMountains(vector, range, width, MOUNTAINS);
  range.finish();
  vector.restore();
  const { from, to } = scene.scale.span;
  return vector.svg(width, height + MOUNTAINS, `${run.peek()?.name ?? ""}, ${instant(from)} to ${instant(to)}`);
}
