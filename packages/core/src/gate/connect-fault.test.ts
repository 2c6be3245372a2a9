import { expect, test } from 'vitest';
import { connectFault } from './connect-fault.ts';

test.each([
  ['ECONNREFUSED', 'connection refused'],
  ['ENOTFOUND', 'its host name cannot be resolved'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its TLS certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)'],
  ['CERT_HAS_EXPIRED', 'its TLS certificate is not trusted (CERT_HAS_EXPIRED)'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its TLS certificate is not trusted (ERR_TLS_CERT_ALTNAME_INVALID)'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'its TLS certificate is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)'],
  ['EPROTO', 'it does not speak TLS as we do'],
  ['HPE_INVALID_CONSTANT', 'it does not speak HTTP'],
  ['ENEWLYINVENTED', 'the connection failed (ENEWLYINVENTED)'],
  ['toString', 'the connection failed (toString)'],
])('%s in plain words', (code, words) => {
  expect(connectFault(Object.assign(new Error('x'), { code }))).toBe(words);
});

test('an error that is not of a connection', () => {
  for (const error of [undefined, null, 'text', new Error('secret path')]) {
    expect(connectFault(error)).toBe('the connection failed');
  }
});
