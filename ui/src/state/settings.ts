/** What a user likes, kept by the browser: the theme. */
import { effect, signal } from "@preact/signals";

export type Theme = "light" | "dark";

const KEY = "marey-theme";

export const theme = signal<Theme>(first());

function first(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept === "light" || kept === "dark") return kept;
  } catch {
    // A page from a file may not have a store.
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function toggleTheme(): void {
  theme.value = theme.peek() === "light" ? "dark" : "light";
  try {
    localStorage.setItem(KEY, theme.peek());
  } catch {
    // Then it holds until the page is closed.
  }
}

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});
