import { render } from 'preact';
import { App } from './app.tsx';
import { signInFromLink } from './session.ts';
import { applyTheme } from './theme.ts';

applyTheme();
await signInFromLink();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
