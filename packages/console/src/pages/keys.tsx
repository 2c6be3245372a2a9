import { Page } from '../parts/page.tsx';

export default function KeysPage() {
  return <Page title="Keys">…</Page>;
}
