import { Page } from '../parts/page.tsx';

export default function AgentsPage() {
  return <Page title="Agents">…</Page>;
}
