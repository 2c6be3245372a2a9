import load from './load.mjs';

/** The same as `load`, with a pause after each word, for protocols that send only text. */
export default ({ params: { content } }) => load({ params: { content, pause_ms: 20 } });
