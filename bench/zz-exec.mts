import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Pool } from 'undici';
import { openWorkflows } from '../packages/core/src/executions/workflows.ts';
import { decodeAsked } from '../packages/core/src/executions/asked.ts';
import { openGate } from '../packages/core/src/gate/network-gate.ts';
import { Limiter } from '../packages/core/src/limits/limiter.ts';
import { ALL_PERMISSIONS } from '../packages/core/src/principal.ts';
import { openSqliteStore } from '../packages/core/src/store/sqlite-store.ts';
import { systemClock as clock, systemIds as ids } from '../packages/server/src/system-ports.ts';
const child = fork(new URL('./workflow/api.mjs', import.meta.url).pathname, [], {execArgv: []});
const port: number = await new Promise(r=>child.once('message',(m:any)=>r(m.port)));
const folder = mkdtempSync('/tmp/exec-bench-');
const log:any={debug(){},info(){},warn(){},error(){}};
const store = await openSqliteStore({folder, onFatal(){}});
const api={id:'b',base_url:`http://127.0.0.1:${port}`,description:null,endpoints:[]};
const principal:any={id:'b',role:'agent',permissions:ALL_PERMISSIONS};
const gate=openGate({clock,log,allow:[{host:'127.0.0.1',port}]});
const engine=openWorkflows({store,folder,gate,apis:{version:1,list:()=>[api],find:()=>api},credentials:{list:()=>[],find:()=>undefined},limiter:new Limiter({clock,limits:{api_calls_per_minute:1e9,api_calls_per_hour:1e9}}),principalNamed:()=>principal,clock,ids,log,limits:{cache_seconds:0}});
let n=0;
const ops={fetch:{ApiCall:{method:'GET',url:`http://127.0.0.1:${port}/users`,outputPath:'/workflow/users'}},filter:{FilterData:{inputPath:'/workflow/users',conditions:[{field:'status',operator:'==',value:'active'}],outputPath:'/workflow/active'}},sort:{TransformData:{inputPath:'/workflow/active',transform:'sort',config:{field:'points',order:'desc'},outputPath:'/workflow/sorted'}}};
const wf=()=>[...Object.entries(ops).map(([operationId,operation])=>JSON.stringify({type:'operationUpdate',operationId,operation})),JSON.stringify({type:'beginExecution',executionId:'x'+n++,operationOrder:Object.keys(ops)})].join('\n');
const pool=new Pool(`http://127.0.0.1:${port}`,{connections:32});
const kinds:Record<string,()=>Promise<any>>={
 plain: async()=>{const {body}=await pool.request({method:'GET',path:'/users'});const u:any=await body.json();u.filter((x:any)=>x.status==='active').toSorted((a:any,b:any)=>b.points-a.points);},
 gate: async()=>{const a=await gate.request({caller:'b',method:'GET',url:`http://127.0.0.1:${port}/users`,timeoutMs:5000,maxBytes:5e6});for await(const _ of a.body);},
 plan: async()=>{const r:any=decodeAsked({workflow:wf()},clock.now());await engine.planner.compile(r.asked,principal);},
 decode: async()=>{decodeAsked({workflow:wf()},clock.now());},
 engine: async()=>{const r:any=decodeAsked({workflow:wf()},clock.now());const b=await engine.executions.execute(r.asked,{principal});const t=await b.result(); if(!t.includes('"success"'))throw new Error(t.slice(0,300));},
};
import { WorkflowPool } from '../packages/core/src/workflow/pool.ts';
const wp=new WorkflowPool({clock,log});
const rows=new Uint8Array(await (await fetch(`http://127.0.0.1:${port}/users`)).arrayBuffer());
const r0:any=decodeAsked({workflow:wf()},clock.now()); const plan0:any=((await engine.planner.compile(r0.asked,principal)) as any).plan;
const eff:any={call:async()=>({status:200,contentType:'application/json',bytes:rows})};
kinds.pool=async()=>{await wp.run(plan0,{effects:eff,timeoutMs:30000});};
kinds.poolprog=async()=>{await wp.run(plan0,{effects:eff,timeoutMs:30000,onProgress(){}});};
const big=JSON.stringify({x:'y'.repeat(20000)});
kinds.store=async()=>{const row:any={owner:'b',executionId:'s'+n++,digest:'d',idempotencyKey:null,request:'x'.repeat(900),acceptedAt:1,end:null};await store.executions.accept(row);await store.executions.finish(row,[],{status:'success',result:big,events:'[]',endedAt:2});};
const N=Number(process.argv[2]??1500);
const only=process.argv[3]; for (const round of [0,1]) for (const [name,work] of Object.entries(kinds).filter(([k])=>!only||k===only)) {
  const c0=process.cpuUsage(); const t0=performance.now(); let left=N;
  await Promise.all(Array.from({length:32},async()=>{while(left-->0) await work();}));
  const c=process.cpuUsage(c0); const t=performance.now()-t0;
  if(round) console.log(name.padEnd(8), (N/t*1000).toFixed(0)+'/s', 'cpu us/each', ((c.user+c.system)/N).toFixed(0), 'sys', (c.system/N).toFixed(0));
}
console.log(await store.stats());
await engine.stop(100); await store[Symbol.asyncDispose](); await pool.close(); child.disconnect(); rmSync(folder,{recursive:true}); process.exit(0);
