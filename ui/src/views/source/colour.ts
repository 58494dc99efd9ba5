/**
 * Letters of a source in colours: comments, texts and words of the language.
 *
 * The one idea: a line is cut by itself, and only whether it begins within a comment comes from the lines before; that is
 * found once for a file. Nothing is parsed: what a line means the engine says.
 */

export type Tone = "" | "comment" | "text" | "word" | "directive";
export interface Piece {
  readonly text: string;
  readonly tone: Tone;
}

const C = "alignas auto bool break case catch char class const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr operator override private protected public register restrict return short signed sizeof static static_cast struct switch template this throw true try typedef typename union unsigned using virtual void volatile while";
const RUST = "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while";
const FORTRAN = "allocatable allocate associate block call case character class close codimension complex concurrent contains continue critical cycle deallocate deferred dimension do double elemental else elseif elsewhere end enddo endif endfunction endmodule endsubroutine entry exit extends forall function generic if implicit import in inout integer intent interface intrinsic logical module none only open optional out parameter pointer precision print private procedure program protected public pure read real recursive result return save select stop submodule subroutine sync target then type use value where while write";

interface Language {
  readonly words: ReadonlySet<string>;
  readonly comment: RegExp;
  readonly hasBlocks: boolean;
  readonly hasCase: boolean;
}

const OF_C: Language = { words: new Set(C.split(" ")), comment: /^\/\//, hasBlocks: true, hasCase: true };
const OF_RUST: Language = { words: new Set(RUST.split(" ")), comment: /^\/\//, hasBlocks: true, hasCase: true };
const OF_FORTRAN: Language = { words: new Set(FORTRAN.split(" ")), comment: /^!/, hasBlocks: false, hasCase: false };

function languageOf(name: string): Language {
  return name.startsWith("Fortran") ? OF_FORTRAN : name === "Rust" ? OF_RUST : OF_C;
}

/** A longer line is not cut: no author reads it. */
const LONGEST = 2000;

const TOKEN = /^(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)'|[A-Za-z_]\w*|\d[\w.]*|\s+|.)/;
const FORTRAN_TEXT = /^(?:"[^"]*"?|'[^']*'?)/;

/** By line, whether it begins within a comment of several lines. */
export function commentsOf(lines: readonly string[], language: string): Uint8Array {
  const within = new Uint8Array(lines.length);
  if (!languageOf(language).hasBlocks) return within;
  let isOpen = false;
  lines.forEach((line, at) => {
    within[at] = isOpen ? 1 : 0;
    // Most lines have none.
    if (line.includes("*/") || line.includes("/*")) isOpen = endsOpen(line, isOpen, languageOf(language));
  });
  return within;
}

function endsOpen(line: string, isOpen: boolean, language: Language): boolean {
  let open = isOpen;
  for (let rest = line; rest !== ""; ) {
    if (open) {
      const end = rest.indexOf("*/");
      if (end < 0) return true;
      [rest, open] = [rest.slice(end + 2), false];
    } else if (language.comment.test(rest)) return false;
    else if (rest.startsWith("/*")) [rest, open] = [rest.slice(2), true];
    else rest = rest.slice((TOKEN.exec(rest)?.[0] ?? " ").length || 1);
  }
  return open;
}

/** The pieces of a line. */
export function piecesOf(line: string, language: string, isWithin: boolean): readonly Piece[] {
  const of = languageOf(language);
  if (line.length > LONGEST) return [{ text: line, tone: "" }];
  if (!of.hasBlocks && /^[cC*]/.test(line) && language.includes("fixed")) return [{ text: line, tone: "comment" }];
  if (!isWithin && (of.hasBlocks ? /^\s*#\s*[a-z]/.test(line) && of !== OF_RUST : /^\s*[!cC*]\$\w/.test(line))) return [{ text: line, tone: "directive" }];
  const pieces: Piece[] = [];
  const add = (text: string, tone: Tone): void => {
    const last = pieces.at(-1);
    if (last !== undefined && last.tone === tone) pieces[pieces.length - 1] = { text: last.text + text, tone };
    else if (text !== "") pieces.push({ text, tone });
  };
  let open = isWithin;
  for (let rest = line; rest !== ""; ) {
    if (open || (of.hasBlocks && rest.startsWith("/*"))) {
      const end = rest.indexOf("*/", open ? 0 : 2);
      open = end < 0;
      const text = open ? rest : rest.slice(0, end + 2);
      add(text, "comment");
      rest = rest.slice(text.length);
      continue;
    }
    if (of.comment.test(rest)) {
      add(rest, "comment");
      break;
    }
    const token = (of.hasBlocks ? null : FORTRAN_TEXT.exec(rest)?.[0]) ?? TOKEN.exec(rest)?.[0] ?? rest.slice(0, 1);
    const isText = token.startsWith('"') || (token.startsWith("'") && token.length > 1);
    add(token, isText ? "text" : of.words.has(of.hasCase ? token : token.toLowerCase()) ? "word" : "");
    rest = rest.slice(token.length);
  }
  return pieces;
}
