import { TestAuthority } from '../../test/system/test-authority.ts';

/** A certificate for so many addresses of this machine, and whom to trust for it. */
export function certificateFor(hosts: number): { cert: string; key: string; ca: string } {
  const names = Array.from({ length: hosts }, (_, index) => `IP:127.0.2.${index + 1}`);
  const authority = new TestAuthority('benchmark');
  try {
    return { ...authority.issue(names), ca: authority.certificate };
  } finally {
    authority[Symbol.dispose]();
  }
}
