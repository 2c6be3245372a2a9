import { Page } from '../parts/page.tsx';

export default function ChatPage() {
  return <Page title="Chat">…</Page>;
}
