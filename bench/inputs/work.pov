// Glass, mirrors, a blob, a field of spheres: rays that bounce.
#version 3.7;
global_settings { assumed_gamma 1.0 max_trace_level 8 }
camera { location <0, 3, -8> look_at <0, 1, 0> angle 50 }
light_source { <10, 12, -10> color rgb 1 }
light_source { <-8, 6, -4> color rgb <0.4, 0.5, 0.8> area_light <1, 0, 0>, <0, 1, 0>, 3, 3 adaptive 1 }
plane { y, 0 pigment { checker color rgb 1, color rgb 0.2 } normal { bumps 0.2 scale 0.3 } finish { reflection 0.2 } }
blob {
  threshold 0.6
  sphere { <0.8, 1, 0>, 1.2, 1 } sphere { <-0.8, 1, 0>, 1.2, 1 } sphere { <0, 2, 0.4>, 1.1, 1 }
  pigment { marble turbulence 1.5 color_map { [0 color rgb <0.9, 0.3, 0.1>] [1 color rgb <0.2, 0.1, 0.6>] } }
  finish { specular 0.6 reflection 0.15 }
}
sphere { <2.4, 1, -1.5>, 0.9 pigment { color rgbt <0.9, 1, 0.95, 0.85> } finish { reflection 0.1 specular 0.9 } interior { ior 1.5 } }
#declare R = seed(7);
#for (I, 1, 120)
  sphere { <rand(R) * 12 - 6, 0.15 + rand(R) * 0.4, rand(R) * 10 - 2>, 0.15 + rand(R) * 0.25
    pigment { granite scale 0.5 color_map { [0 color rgb <rand(R), rand(R), rand(R)>] [1 color rgb 1] } } finish { phong 0.7 } }
#end
