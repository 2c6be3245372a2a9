import { Page } from '../parts/page.tsx';

export default function RequestsPage() {
  return <Page title="Requests">…</Page>;
}
