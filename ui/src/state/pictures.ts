/** Views that draw themselves for a file; the others are saved as they stand in the page. */
import type { ViewName } from "./view.ts";

/** By view, what makes its SVG. */
export const pictures = new Map<ViewName, () => string>();
