import { Page } from '../parts/page.tsx';

export default function OutboxPage() {
  return <Page title="Outbox">…</Page>;
}
