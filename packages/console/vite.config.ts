import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Files with hashed names, and nothing inline: the content security policy lets no inline script or style run. */
export default defineConfig({
  root: folder('src'),
  base: '/',
  publicDir: false,
  resolve: { conditions: ['dragoman:source', 'browser', 'module', 'import', 'default'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    assetsDir: 'console/assets',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});
