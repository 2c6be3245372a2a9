import { Page } from '../parts/page.tsx';

export default function ToolsPage() {
  return <Page title="Tools">…</Page>;
}
