import { Page } from '../parts/page.tsx';

export default function WorkflowsPage() {
  return <Page title="Workflows">…</Page>;
}
