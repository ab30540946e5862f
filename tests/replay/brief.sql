INSERT INTO meta VALUES
('command','/build/brief 3'),
('ended','exit'),
('finished','1'),
('fused','1'),
('loops','1'),
('note',''),
('overhead','0.000004'),
('sampler','perf'),
('search_seconds','0.306'),
('seconds','0.306'),
('strategy','deep-start');
INSERT INTO module VALUES
(0,'/build/brief','b3211b5744260245f21fd2520002f168d8061cdc',26096,1794875349,NULL),
(1,'/usr/lib/x86_64-linux-gnu/libc.so.6','93ac61ec5a8eb1396f9fbd350e3169a558528a40',1926232,1777320873,NULL);
INSERT INTO resource VALUES
(0,NULL,'code','group','Code',NULL,0,'',0,0),
(1,NULL,'machine','group','Machine',NULL,0,'',0,0),
(2,NULL,'sync','group','SyncObject',NULL,0,'',0,0),
(3,NULL,'file','group','File',NULL,0,'',0,0),
(4,1,'machine','group','vm',NULL,0,'',0,0),
(5,4,'machine','process','18423 brief',NULL,0,'',0,0),
(6,5,'machine','thread','18423 brief',NULL,0,'',0,0),
(7,0,'code','group','brief',NULL,0,'',0,0),
(8,7,'code','group','brief.c',NULL,0,'',0,0),
(9,8,'code','function','main',0,4352,'/src/tests/victims/diagnose/brief.c',14,14),
(10,9,'code','loop','loop brief.c:17-20',0,4432,'/src/tests/victims/diagnose/brief.c',17,20),
(11,8,'code','function','hurry',0,5424,'/src/tests/victims/diagnose/brief.c',7,7),
(12,11,'code','loop','loop brief.c:8-9',0,5440,'/src/tests/victims/diagnose/brief.c',8,9);
INSERT INTO experiment VALUES
(0,'cpu',0,1,2,3,'unknown','start','normal',1,0.2,0,0.025535246,0.025535246,NULL,0.280566807,0,0,0,0,0),
(1,'sync',0,1,2,3,'unknown','start','normal',0,0.2,0,0.025535246,0.025535246,NULL,0.280566807,0,0,0,0,0),
(2,'io',0,1,2,3,'unknown','start','normal',0,0.2,0,0.025535246,0.025535246,NULL,0.280566807,0,0,0,0,0),
(3,'imbalance',0,1,2,3,'unknown','start','normal',0,0.15,0,0.025535246,0.025535246,NULL,0.280566807,0,0,0,0,0);
INSERT INTO scope VALUES
(0,NULL,0,0,0,'_start','',0,0,'',0,5184),
(1,NULL,0,0,0,'main','/src/tests/victims/diagnose/brief.c',13,25,'',0,4352),
(2,1,0,2,0,'','/src/tests/victims/diagnose/brief.c',17,20,'',0,4432),
(3,2,0,3,0,'','/src/tests/victims/diagnose/brief.c',19,19,'',0,4553),
(4,NULL,0,0,0,'hurry','/src/tests/victims/diagnose/brief.c',6,11,'',0,5424),
(5,4,0,2,0,'','/src/tests/victims/diagnose/brief.c',8,9,'',0,5440),
(6,5,0,3,0,'','/src/tests/victims/diagnose/brief.c',8,8,'',0,5470),
(7,NULL,1,0,0,'__libc_start_main','./csu/../csu/libc-start.c',234,360,'',0,160384),
(8,7,1,3,0,'','./csu/../csu/libc-start.c',360,360,'',0,160503),
(9,NULL,1,0,0,'__libc_start_call_main','./csu/../sysdeps/nptl/libc_start_call_main.h',23,74,'',0,160208),
(10,9,1,3,0,'','./csu/../sysdeps/nptl/libc_start_call_main.h',58,58,'',0,160304);
INSERT INTO node VALUES
(0,NULL,0,NULL,0,NULL),
(1,0,1,0,5216,0),
(2,1,1,1,160516,8),
(3,2,1,1,160329,10),
(4,3,1,0,4576,3),
(5,4,2,0,5470,6);
INSERT INTO evidence VALUES
('calls_sampled',0),
('cpu',0.103143394),
('cpus',2),
('ignored',0),
('ran',0.091649673),
('ready',0.202940949),
('sampled_cpu',0.091286294),
('sampled_io',0),
('sampled_sync',0),
('seconds',0.30602349),
('threads',0.305828447),
('time',0.103143394);
INSERT INTO code_name VALUES
(9,'main','main'),
(10,'main','main'),
(11,'hurry','hurry'),
(12,'hurry','hurry');
INSERT INTO seen_thread VALUES
(0,5,0,'',0,-0.305828447),
(1,6,18423,'brief',0.091649673,-0.305828447);
INSERT INTO object VALUES
(0,'other','files being opened, polled or synchronised',NULL,2,0,5.8919e-05,0,'',0,0),
(1,'other','files being opened, polled or synchronised',NULL,1,16,1.1454e-05,0,'',0,0),
(2,'other','files being opened, polled or synchronised',NULL,1,28,3.0824e-05,0,'',0,0);
INSERT INTO chain VALUES
(0,0,NULL,5,0.091286294,22,4);
INSERT INTO chain_part VALUES
(0,9),
(1,10),
(2,11),
(3,12);
INSERT INTO amount VALUES
(0,0,1,0,0,5.8919e-05,0,0,0,0),
(1,0,1,1,0,1.1454e-05,0,0,0,0),
(2,0,1,2,0,3.0824e-05,0,0,0,0),
(3,0,1,NULL,0.091649673,0,0,0.091286294,0,0);
