/**
 * Texts that a run brought, so that they can be shown: whatever cannot be seen has a form that can, and what is written from
 * right to left turns nothing around that stands beside it.
 *
 * The one idea: a text is changed once, where it comes in, since pictures, tables, titles and files all show it. So names are
 * compared as they are shown.
 *
 * What is deliberately absent: marks of HTML. Nothing here is ever read as such.
 */

// Controls; signs that turn text around or join it; ends of lines that are none; tags; halves of letters.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]|[\u{e0000}-\u{e0fff}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;
const LEFTWARDS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** How JSON writes what may be one of these. */
const SUSPICIOUS = /\\[bfnrtu]|[^\u0020-\u007e\u00a0-\u00ac\u00ae-\u024f\u2070-\u22ff]/;

/** A text as it is shown; one that is so already stays as it is. */
export function shown(text: string): string {
  const bare = text.startsWith("\u2066") && text.endsWith("\u2069") ? text.slice(1, -1) : text;
  const seen = bare.replace(UNSEEN, formOf);
  // Between two signs that say where it begins and ends.
  return LEFTWARDS.test(seen) ? `\u2066${seen}\u2069` : seen;
}

/** `␀` of a control that has such a sign, else `⟨U+202E⟩`. */
function formOf(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** What JSON says, its texts as they are shown. */
export function parsed(json: string): unknown {
  // Nearly all answers have nothing of the kind, and to look through their parts takes as long as to read them.
  if (!SUSPICIOUS.test(json)) return JSON.parse(json);
  return JSON.parse(json, (_, value: unknown) => (typeof value === "string" ? shown(value) : value));
}
