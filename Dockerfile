# syntax=docker/dockerfile:1
# Dragoman in a container: docs/how-to/run-as-a-service.md.
#
# It listens on every address of the container, so publish the port on the host's own: -p 127.0.0.1:7420:7420. Without a key no
# agent is reached unless mailbox.anonymous lists it; /health, /metrics, /openapi.json, /schemas and the cards answer anyone. The
# log says so at the start. docs/how-to/production-checklist.md has the rest.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
COPY scripts ./scripts
COPY tsconfig.base.json tsconfig.json ./
RUN npm ci && npm prune --omit=dev --ignore-scripts

FROM node:24-slim
ENV NODE_ENV=production \
    DRAGOMAN_DATA=/data \
    DRAGOMAN_HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/package.json ./
COPY --from=build /app/packages ./packages
RUN mkdir -p /data /etc/dragoman && chown node:node /data && chmod 700 /data \
 && printf 'host: 0.0.0.0\n' > /etc/dragoman/dragoman.yaml
USER node
VOLUME /data
EXPOSE 7420
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7420/health').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is the first process and hears SIGTERM: nothing stands between.
# Nothing of Dragoman makes code out of text. A module of your own that does (a template engine, say) needs an entrypoint without the flag.
ENTRYPOINT ["node", "--disallow-code-generation-from-strings", "packages/cli/bin/dragoman.js"]
CMD ["serve", "--json", "--config", "/etc/dragoman/dragoman.yaml"]
