import fc from 'fast-check';

/**
 * Properties are tried with the same cases each time, so that a change is judged by what it changed, and a failure repeats.
 * Another `DRAGOMAN_SEED` gives others (CONTRIBUTING.md).
 */
fc.configureGlobal({ seed: Number(process.env['DRAGOMAN_SEED'] ?? 1) });
