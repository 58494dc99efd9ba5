/** Both timelines and the strip beneath them as a file: the same drawing, in lines instead of pixels. */
import { Vector } from "../../canvas/vector.ts";
import { iterations, pair } from "../../state/pair.ts";
import { run } from "../../state/run.ts";
import { colours } from "../colours.ts";
import { drawScene, groundSize, GUTTER, MARGIN, RULER } from "../timeline/draw.ts";
import { drawLaneNow, LANE_HEIGHT } from "./lane.tsx";
import { sceneOf } from "./scene.ts";
import { plotWidth, sides, type Side } from "./side.ts";
import { drawStrip } from "./strip.tsx";

const HEADING = 24;
const STRIP = 92;
const FONT = "600 13px Inter, system-ui, sans-serif";

/** What is seen, as SVG. */
export function compareSvg(): string {
  const now = pair.peek();
  if (now === null) throw new Error("both runs are not open yet");
  const width = GUTTER + plotWidth.peek() + MARGIN;
  const vector = new Vector();
  let top = heading(vector, width, now.head.sentences[0] ?? "", 0);
  for (const side of sides) {
    top = heading(vector, width, `${side.letter}  ${side.run.peek()?.name ?? ""}`, top);
    top = rows(vector, width, side, top);
  }
  vector.save();
  vector.translate(0, top);
  drawLaneNow(vector, width, LANE_HEIGHT);
  vector.restore();
  top += LANE_HEIGHT;
  const all = iterations.peek();
  const hasStrip = all !== null && all.common > 0;
  if (hasStrip) {
    vector.save();
    vector.translate(0, top);
    drawStrip(vector, width, STRIP, all);
    vector.restore();
  }
  return vector.svg(width, top + (hasStrip ? STRIP : 0), `${run.peek()?.name ?? ""} and ${now.other.name}`);
}

function heading(vector: Vector, width: number, text: string, top: number): number {
  vector.fillStyle = colours.peek().background;
  vector.fillRect(0, top, width, HEADING);
  vector.fillStyle = colours.peek().text;
  vector.font = FONT;
  vector.textAlign = "left";
  vector.textBaseline = "middle";
  vector.fillText(text, 14, top + HEADING / 2);
  return top + HEADING;
}

function rows(vector: Vector, width: number, side: Side, top: number): number {
  const scene = sceneOf(side);
  if (scene === null) return top;
  const height = RULER + Math.min(side.layout.peek().height, side.room.peek()) + 4;
  vector.save();
  vector.translate(0, top);
  const ground = vector.ground(GUTTER, RULER, ...groundSize(scene.scale, height, 1));
  const finish = (): void => ground.finish();
  drawScene({ ink: vector, width, height, ratio: 1, ground, layer: finish, lay: finish }, { ...scene, isStale: false });
  vector.restore();
  return top + height;
}
