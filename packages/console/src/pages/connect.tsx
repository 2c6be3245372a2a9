import { Page } from '../parts/page.tsx';

export default function ConnectPage() {
  return <Page title="Connect">…</Page>;
}
