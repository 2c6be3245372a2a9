import { signal } from '@preact/signals';

/** `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

export const theme = signal<Theme>(read());

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value;
}

export function nextTheme(): void {
  const at = THEMES.indexOf(theme.value);
  theme.value = THEMES[(at + 1) % THEMES.length] ?? 'auto';
  localStorage.setItem('theme', theme.value);
  applyTheme();
}

function read(): Theme {
  const kept = localStorage.getItem('theme');
  return THEMES.find((one) => one === kept) ?? 'auto';
}
