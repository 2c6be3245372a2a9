import { expect, test, vi } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { SlidingWindows } from '../limits/sliding-window.ts';
import { CallbackLimits } from './callback-limits.ts';

test('hosts that anonymous senders name are forgotten again: they can name as many as they like', () => {
  const prune = vi.spyOn(SlidingWindows.prototype, 'prune');
  const limits = new CallbackLimits({
    clock: new TestClock(),
    settings: { queuedPerSender: 10, anonymousPerHost: 2 },
  });
  for (let host = 0; host < 1000; host++) {
    limits.check({ url: `https://h${host}.example/`, queued: 0, isAnonymous: true });
  }
  expect(prune).toHaveBeenCalledWith(120);
  // Those of the last minute still count.
  const again = { url: 'https://h0.example/', queued: 0, isAnonymous: true };
  limits.check(again);
  expect(() => limits.check(again)).toThrow('Too many callbacks to this host');
  prune.mockRestore();
});

test('all ports of a host are one host to anonymous senders, and another host is another', () => {
  const limits = new CallbackLimits({
    clock: new TestClock(),
    settings: { queuedPerSender: 10, anonymousPerHost: 2 },
  });
  const ask = (url: string) => limits.check({ url, queued: 0, isAnonymous: true });
  ask('https://one.example:8443/');
  ask('https://ONE.example:9443/');
  for (const url of ['https://one.example/', 'https://one.example./']) {
    expect(() => ask(url)).toThrow('Too many callbacks to this host');
  }
  ask('https://two.example:8443/');
});

test('a sender cannot exceed its limit of waiting callbacks, with a key or without', () => {
  const limits = new CallbackLimits({
    clock: new TestClock(),
    settings: { queuedPerSender: 10, anonymousPerHost: 2 },
  });
  for (const isAnonymous of [false, true]) {
    limits.check({ url: 'https://one.example/', queued: 9, isAnonymous });
    const tooMany = () => limits.check({ url: 'https://one.example/', queued: 10, isAnonymous });
    expect(tooMany).toThrow('Queue full: 10 callbacks of this sender wait already.');
  }
});
