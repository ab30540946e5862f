INSERT INTO meta VALUES
('command','/build/idle 120'),
('ended','exit'),
('finished','1'),
('fused','1'),
('loops','1'),
('note',''),
('overhead','0.000299'),
('sampler','perf'),
('search_seconds','4.013'),
('seconds','4.013'),
('strategy','deep-start');
INSERT INTO module VALUES
(0,'/build/idle','73083c2a042dc6a1bd5ea823c8e6fb697e7dc5a8',25632,1794875343,NULL),
(1,'/usr/lib/x86_64-linux-gnu/libc.so.6','93ac61ec5a8eb1396f9fbd350e3169a558528a40',1926232,1777320873,NULL);
INSERT INTO resource VALUES
(0,NULL,'code','group','Code',NULL,0,'',0,0),
(1,NULL,'machine','group','Machine',NULL,0,'',0,0),
(2,NULL,'sync','group','SyncObject',NULL,0,'',0,0),
(3,NULL,'file','group','File',NULL,0,'',0,0),
(4,1,'machine','group','vm',NULL,0,'',0,0),
(5,2,'sync','group','sleep',NULL,0,'',0,0),
(6,4,'machine','process','18076 idle',NULL,0,'',0,0),
(7,5,'sync','object','sleep',NULL,0,'',0,0),
(8,0,'code','group','idle',NULL,0,'',0,0),
(9,8,'code','group','idle.c',NULL,0,'',0,0),
(10,9,'code','function','main',0,4368,'/src/tests/victims/diagnose/idle.c',21,21),
(11,9,'code','function','wait_for_tick',0,5472,'/src/tests/victims/diagnose/idle.c',16,16),
(12,10,'code','loop','loop idle.c:23-26',0,4582,'/src/tests/victims/diagnose/idle.c',23,26),
(13,6,'machine','thread','18076 idle',NULL,0,'',0,0),
(14,8,'code','group','victim.h',NULL,0,'',0,0),
(15,14,'code','function','tell_beginning',0,5376,'/src/tests/victims/diagnose/victim.h',57,57),
(16,9,'code','function','tick',0,5312,'/src/tests/victims/diagnose/idle.c',8,8);
INSERT INTO experiment VALUES
(0,'cpu',0,1,2,3,'false','start','normal',0.000691161954,0.2,0.99578956,0.019907028,0.019907028,0.376773491,3.99296902,0,1,0,0,0),
(1,'sync',0,1,2,3,'true','start','normal',0.999014062,0.2,0.999,0.019907028,0.019907028,0.200787631,3.99296902,0,1,0,0,0),
(2,'io',0,1,2,3,'false','start','normal',1.27447842e-05,0.2,0.99578956,0.019907028,0.019907028,0.376773491,3.99296902,0,1,0,0,0),
(3,'imbalance',0,1,2,3,'false','start','normal',0,0.15,0.99578956,0.019907028,0.019907028,0.376773491,3.99296902,0,1,0,0,0),
(4,'sync',0,4,2,3,'true','refined','normal',0.998964847,0.2,0.999,0.200787631,0.200787631,0.376773491,3.81208842,0,1,0,0,0),
(5,'sync',0,1,5,3,'true','refined','normal',0.998964847,0.2,0.999,0.200787631,0.200787631,0.376773491,3.81208842,0,1,0,0,0),
(6,'sync',0,6,2,3,'true','refined','normal',0.998922211,0.2,0.999,0.376773491,0.376773491,0.537577747,3.63610256,0,1,0,0,0),
(7,'sync',0,1,7,3,'true','refined','normal',0.998922211,0.2,0.999,0.376773491,0.376773491,0.537577747,3.63610256,0,1,0,0,0),
(8,'sync',10,1,2,3,'true','refined','normal',0.998922211,0.2,0.999,0.376773491,0.376773491,0.537577747,3.63610256,0,1,0,0,0),
(9,'sync',11,1,2,3,'true','deep-starter','high',0.998922211,0.2,0.999,0.376773491,0.376773491,0.537577747,3.63610256,1.80571362e-07,1,0,0,0),
(10,'sync',12,1,2,3,'true','connecting','normal',0.998922211,0.2,0.999,0.376773491,0.376773491,0.537577747,3.63610256,0,1,0,0,0),
(11,'sync',0,13,2,3,'true','refined','normal',0.998873678,0.2,0.999,0.537577747,0.537577747,0.699964939,3.4752983,0,1,0,0,0),
(12,'sync',11,1,5,3,'true','refined','high',0.998873678,0.2,0.999,0.537577747,0.537577747,0.699964939,3.4752983,1.80571362e-07,1,0,0,0),
(13,'sync',15,1,2,3,'false','refined','normal',0,0.2,0.994773459,0.537577747,0.537577747,0.880840107,0.34326236,0,1,0,0,0),
(14,'sync',16,1,2,3,'false','refined','normal',0,0.2,0.994773459,0.537577747,0.537577747,0.880840107,0.34326236,0,1,0,0,0),
(15,'sync',11,1,7,3,'true','refined','high',0.998807481,0.2,0.999,0.699964939,0.699964939,0.880840107,3.31291111,1.80571362e-07,1,0,0,0);
INSERT INTO refinement VALUES
(1,4),
(1,5),
(1,8),
(4,6),
(5,7),
(6,11),
(8,10),
(8,13),
(9,12),
(10,9),
(10,14),
(12,15);
INSERT INTO scope VALUES
(0,NULL,0,0,0,'_start','',0,0,'',0,5072),
(1,NULL,0,0,0,'main','/src/tests/victims/diagnose/idle.c',20,30,'',0,4368),
(2,1,0,2,0,'','/src/tests/victims/diagnose/idle.c',23,26,'',0,4582),
(3,2,0,3,0,'','/src/tests/victims/diagnose/idle.c',26,26,'',0,4556),
(4,NULL,0,0,0,'wait_for_tick','/src/tests/victims/diagnose/idle.c',14,18,'',0,5472),
(5,4,0,3,0,'','/src/tests/victims/diagnose/idle.c',17,17,'',0,5541),
(6,NULL,1,0,0,'__libc_start_main','./csu/../csu/libc-start.c',234,360,'',0,160384),
(7,6,1,3,0,'','./csu/../csu/libc-start.c',360,360,'',0,160503),
(8,NULL,1,0,0,'__libc_start_call_main','./csu/../sysdeps/nptl/libc_start_call_main.h',23,74,'',0,160208),
(9,8,1,3,0,'','./csu/../sysdeps/nptl/libc_start_call_main.h',58,58,'',0,160304),
(10,NULL,1,0,0,'clock_nanosleep','./time/../sysdeps/unix/sysv/linux/clock_nanosleep.c',30,72,'',0,849120),
(11,10,1,3,0,'','./time/../sysdeps/unix/sysv/linux/clock_nanosleep.c',71,71,'',0,849155);
INSERT INTO node VALUES
(0,NULL,0,NULL,0,NULL),
(1,0,1,0,5104,0),
(2,1,1,1,160516,7),
(3,2,1,1,160329,9),
(4,3,1,0,4581,3),
(5,4,1,0,5574,5),
(6,5,2,1,849155,11),
(7,6,4,NULL,0,NULL);
INSERT INTO evidence VALUES
('calls_sampled',0),
('cpu',4.00966659),
('cpus',2),
('ignored',0),
('ran',0.003697719),
('ready',0.003357253),
('sampled_cpu',0),
('sampled_io',0),
('sampled_sync',4.00098485),
('seconds',4.01281873),
('threads',4.01261157),
('time',4.00966659);
INSERT INTO code_name VALUES
(10,'main','main'),
(11,'wait_for_tick','wait_for_tick'),
(12,'main','main'),
(15,'tell_beginning','tell_beginning'),
(16,'tick','tick');
INSERT INTO seen_thread VALUES
(0,6,0,'',0,-4.01261157),
(1,13,18076,'idle',0.003697719,-4.01261157);
INSERT INTO object VALUES
(0,'sleep','sleep',7,4,0,4.00623939,0,'',0,0),
(1,'other','files being opened, polled or synchronised',NULL,2,0,4.0252e-05,0,'',0,0),
(2,'other','files being opened, polled or synchronised',NULL,1,15,9.079e-06,0,'',0,0),
(3,'other','files being opened, polled or synchronised',NULL,1,31,3.0476e-05,0,'',0,0);
INSERT INTO chain VALUES
(0,1,0,7,4.00098485,155,3);
INSERT INTO chain_part VALUES
(0,10),
(1,12),
(2,11);
INSERT INTO amount VALUES
(0,0,1,0,0,4.00623939,0,0,4.00098485,0),
(1,0,1,1,0,4.0252e-05,0,0,0,0),
(2,0,1,2,0,9.079e-06,0,0,0,0),
(3,0,1,3,0,3.0476e-05,0,0,0,0),
(4,0,1,NULL,0.003697719,0,0,0,0,0),
(5,10,1,0,0,3.63109183,0,0,4.00098485,0),
(6,10,1,1,0,1.1331e-05,0,0,0,0),
(7,10,1,2,0,9.079e-06,0,0,0,0),
(8,10,1,3,0,3.0476e-05,0,0,0,0),
(9,10,1,NULL,0.00268330588,0,0,0,0,0),
(10,11,1,0,0,3.63109183,0,0,4.00098485,0),
(11,11,1,NULL,0.000173931876,0,3,0,0,0),
(12,12,1,0,0,3.63109183,0,0,4.00098485,0),
(13,12,1,NULL,0.00268330588,0,0,0,0,0);
