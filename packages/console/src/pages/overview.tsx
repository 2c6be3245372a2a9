import { Page } from '../parts/page.tsx';

export default function OverviewPage() {
  return <Page title="Overview">…</Page>;
}
